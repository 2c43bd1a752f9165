// Replaces an answer for which the server would kill the worker.

import { stringify } from '../json.mjs'

const INTERNAL_ERROR = -32603

/** The member of a frame that says that an answer of this many bytes is too large, and what to do. */
export function tooLarge(call, json, bytes, most) {
  const remedy = json.includes('"structuredContent":') ? ', or have it sent as text only: JSON.stringify(…)' : ''
  return refused(
    call,
    `The result of ${call.name} is too large: ${bytes} bytes, where ${most} are allowed (MCPBASH_MAX_TOOL_OUTPUT_SIZE); return less${remedy}`,
  )
}

/** The same for an answer that exceeds another limit of a frame. */
export function cannotBeSent(call, problem) {
  return refused(call, `The result of ${call.name} cannot be sent: it ${problem}; return it as a text: JSON.stringify(…)`)
}

function refused({ definition }, text) {
  if (definition.kind !== 'tool') return `"error":${stringify({ code: INTERNAL_ERROR, message: text })}`
  return `"result":${stringify({ content: [{ type: 'text', text }], isError: true })}`
}
