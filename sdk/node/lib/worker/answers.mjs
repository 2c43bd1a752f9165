// Turns what a handler returns or throws into the one answer of its call.

import { RpcError } from '../errors.mjs'
import { isMeant, oneLine, wholeTrace } from '../failures.mjs'
import { stringify } from '../json.mjs'
import { errorResult, promptResult, resourceResult, toolResult } from '../results.mjs'

const INTERNAL_ERROR = -32603

/** Answers with a value. Throws if it cannot be written. */
export function answerWith(call, value) {
  const { kind, fields } = call.definition
  if (kind === 'tool') call.end('result', toolResult(value, fields.outputKind))
  else if (kind === 'resource') call.end('result', resourceResult(value, call.uri, fields.mimeType))
  else call.end('result', promptResult(value, fields.description))
}

/** Answers with a failure: a result that the model can act on, or an error of the protocol where there is no such result. */
export function answerWithFailure(call, error) {
  const message = oneLine(error)
  const meant = isMeant(error)
  const details = meant ? error.details : undefined
  if (!meant)
    call.notify('notifications/message', { level: 'error', logger: call.name, data: wholeTrace(error) })
  if (meant && error instanceof RpcError) call.end('error', rpcError(error.code, message, error.data))
  else if (call.definition.kind === 'tool')
    call.end('result', toolFailure(message, details, call.definition.fields.outputKind))
  else call.end('error', rpcError(INTERNAL_ERROR, message, details))
}

function toolFailure(message, details, output) {
  try {
    return errorResult(message, details, output)
  } catch {
    // Details that cannot be written are not worth losing the message for.
    return errorResult(message, undefined, output)
  }
}

function rpcError(code, message, data) {
  const error = { code: Number.isInteger(code) ? code : INTERNAL_ERROR, message }
  try {
    return stringify({ ...error, data })
  } catch {
    return stringify(error)
  }
}
