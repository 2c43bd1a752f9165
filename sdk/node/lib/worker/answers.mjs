// Turns a handler's return value or exception into the only answer of its call.

import { ProtocolError, ToolError } from '../errors.mjs'
import { errorData, isMeant, oneLine, wholeTrace } from '../failures.mjs'
import { stringify } from '../json.mjs'
import { errorResult, promptResult, resourceResult, toolResult } from '../results.mjs'

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

/** Answers with a value. Throws if it cannot be encoded. */
export function answerWith(call, value) {
  const { kind, fields } = call.definition
  if (kind === 'tool') {
    const result = toolResult(value, fields.outputKind)
    call.sendState()
    call.end('result', result)
  } else if (kind === 'resource') call.end('result', resourceResult(value, call.uri, fields.mimeType))
  else call.end('result', promptResult(value, fields.description))
}

/** Answers with a failure: a result that the model can act on, or a protocol error for resources and prompts. */
export function answerWithFailure(call, error) {
  const { kind, fields } = call.definition
  const text = oneLine(error)
  try {
    call.sendState()
  } catch {
    // The call has failed anyway.
  }
  const meant = isMeant(error)
  if (!meant) {
    call.notify('notifications/message', { level: 'error', logger: call.name, data: wholeTrace(error) })
  }
  if (meant && error instanceof ProtocolError) call.end('error', protocolError(error.code, text, error.data))
  else if (kind === 'tool') call.end('result', toolFailure(text, error, fields.outputKind))
  else {
    const data = meant && error instanceof ToolError ? errorData(error) : undefined
    const code = data?.type === 'invalid_argument' ? INVALID_PARAMS : INTERNAL_ERROR
    call.end('error', protocolError(code, text, data))
  }
}

function toolFailure(text, error, output) {
  try {
    return errorResult(text, errorData(error), output)
  } catch {
    // Data that cannot be encoded is not worth losing the message for.
    return errorResult(text, { type: 'error', message: text }, output)
  }
}

function protocolError(code, message, data) {
  const error = { code: Number.isInteger(code) ? code : INTERNAL_ERROR, message }
  try {
    return stringify({ ...error, data })
  } catch {
    return stringify(error)
  }
}
