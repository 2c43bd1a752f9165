// Turns the return values of functions into results of the protocol, as JSON text: a value is encoded once,
// and used in the text and in the structured content.

import { Content, Message, Result, asBytes, asContent, contentsOf } from './content.mjs'
import { ToolError } from './errors.mjs'
import { parse, stringify } from './json.mjs'

const RESULT_KEYS = new Set(['content', 'structuredContent', 'isError', '_meta'])
const CONTENT_TYPES = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])

/** A CallToolResult as JSON. `output` is the tool's declaration: none, an `object`, or a `wrapped` value. */
export function toolResult(value, output) {
  switch (typeof value) {
    case 'string':
      return withText(json(value), output === 'wrapped' ? json(value) : undefined)
    case 'number':
      if (!Number.isFinite(value)) throw unwritable(value)
    // falls through
    case 'boolean':
      return withText(`"${value}"`, output === 'wrapped' ? json(value) : undefined)
    case 'bigint':
    case 'symbol':
    case 'function':
      throw unwritable(value)
    default:
      return value === null || value === undefined ? nothing(output) : objectResult(value, output)
  }
}

function nothing(output) {
  return output === 'wrapped' ? '{"content":[],"structuredContent":{"result":null}}' : '{"content":[]}'
}

function withText(text, wrapped) {
  const structured = wrapped === undefined ? '' : `,"structuredContent":{"result":${wrapped}}`
  return `{"content":[{"type":"text","text":${text}}]${structured}}`
}

function objectResult(value, output) {
  if (value instanceof Error) throw value
  if (value instanceof Result) return wholeResult(value)
  if (isCallToolResult(value)) return json(value)
  if (value instanceof Content || asBytes(value)) return `{"content":[${json(asContent(value))}]}`
  if (Array.isArray(value) && value.some((item) => item instanceof Content || asBytes(item))) {
    return `{"content":${json(value.map(contentItem))}}`
  }
  refuseUnread(value)
  const written = json(plain(value))
  // A date, for example, is an object that is written as a string.
  const isObject = written[0] === '{'
  if (written === '{}') refuseInvisible(value)
  if (isObject && output !== 'wrapped') {
    return `{"content":[{"type":"text","text":${json(written)}}],"structuredContent":${written}}`
  }
  return withText(
    json(written[0] === '"' ? parse(written) : written),
    output === 'wrapped' ? written : undefined,
  )
}

/** Maps, sets and generators at the top level are written as arrays and objects. */
function plain(value) {
  if (value instanceof Map) return Object.fromEntries(value)
  return value instanceof Set || typeof value.next === 'function' ? [...value] : value
}

/** A stream, or a generator with pending values: its contents have to be awaited. */
function refuseUnread(value) {
  const problem = unread(value)
  if (problem) throw new ToolError(`the result ${problem}`)
}

function unread(value) {
  if (typeof value[Symbol.asyncIterator] !== 'function' || typeof value.toJSON === 'function') return undefined
  const isStream = typeof value.pipe === 'function' || typeof value.getReader === 'function'
  if (!isStream)
    return 'is read step by step (for await): collect what it gives into an array, and return that'
  const name = value.constructor?.name ?? 'stream'
  return `is a ${name}, which is not read yet: return \`await text(…)\` or \`await buffer(…)\` of it, both of 'node:stream/consumers'`
}

/** A response or a connection looks like an empty object: probably an `await` or a read is missing. */
function refuseInvisible(value) {
  const { name } = value.constructor ?? Object
  if (name === 'Object' || value instanceof Map) return
  throw new ToolError(
    `the result is a ${name}, of which JSON shows nothing: return what is in it, as plain values`,
  )
}

function contentItem(value) {
  return typeof value === 'object' && value !== null && !asBytes(value) && !(value instanceof Content)
    ? { type: 'text', text: json(value) }
    : asContent(value)
}

function wholeResult({ content, structured, isError, meta }) {
  const items = content === undefined ? (structured === undefined ? [] : [structured]) : [content].flat()
  const whole = { content: items.map(contentItem) }
  if (structured !== undefined) whole.structuredContent = structured
  if (isError) whole.isError = true
  if (meta !== undefined) whole._meta = meta
  return json(whole)
}

/** Whether the value already is a result in the form of the protocol. */
function isCallToolResult(value) {
  return (
    Array.isArray(value.content) &&
    Object.keys(value).every((key) => RESULT_KEYS.has(key)) &&
    value.content.every((item) => CONTENT_TYPES.has(item?.type))
  )
}

/** A ReadResourceResult as JSON. */
export function resourceResult(value, uri, mimeType) {
  if (value?.contents instanceof Array) return json(value)
  const parts = Array.isArray(value) && value.some((part) => part instanceof Content) ? value : [value]
  return json({
    contents: parts.map((part) =>
      part instanceof Content ? contentsOfItem(part, uri) : resourceContents(uri, part, mimeType),
    ),
  })
}

function resourceContents(uri, value, mimeType) {
  if (value === undefined) throw new ToolError(`the resource ${uri} returned nothing`)
  if (typeof value === 'object' && value !== null) refuseUnread(value)
  json(value)
  return contentsOf(uri, value, mimeType)
}

function contentsOfItem(item, uri) {
  if (item.type === 'resource') return item.resource
  if (item.type === 'text') return contentsOf(uri, item.text, 'text/plain')
  if (item.data !== undefined) return { uri, mimeType: item.mimeType, blob: item.data }
  throw new ToolError(`a resource cannot consist of a ${item.type}`)
}

/** A GetPromptResult as JSON. */
export function promptResult(value, description) {
  const whole = Array.isArray(value?.messages) ? value : { messages: [value].flat() }
  const messages = whole.messages.map((message) => {
    if (message instanceof Message || (message?.role !== undefined && typeof message.content === 'object'))
      return message
    return message?.role === undefined
      ? new Message('user', message)
      : new Message(message.role, message.content)
  })
  const text = whole.description ?? description
  return json(text === undefined ? { ...whole, messages } : { ...whole, description: text, messages })
}

/** A result with isError. Its details are structured, unless the tool has its own output schema. */
export function errorResult(text, error, output) {
  const whole = { content: [{ type: 'text', text }], isError: true }
  // Some clients check the structured content of errors against the result schema, too.
  if (output === undefined) whole.structuredContent = { success: false, error }
  else whole._meta = { 'mcpbash/error': error }
  // A number in the details that JSON cannot express must not hide the error itself.
  return stringify(whole)
}

function json(value) {
  let written
  try {
    written = stringify(value)
  } catch (error) {
    throw unwritable(value, error)
  }
  if (written === undefined) throw unwritable(value)
  if (LOOKS_LOST.test(written)) {
    const found = offenderIn(value)
    if (found) throw new ToolError(`the result cannot be written as JSON: ${found}`)
  }
  return written
}

// How JSON.stringify changes numbers, dates and streams that JSON cannot express.
const LOOKS_LOST = /null|"_(?:read|writ)ableState"/

function offenderIn(value) {
  try {
    return offender(value)
  } catch {
    // A value that cannot even be inspected; the output or error of stringify has to do.
    return undefined
  }
}

function unwritable(value, error) {
  const found = offenderIn(value)
  if (found) return new ToolError(`the result cannot be written as JSON: ${found}`)
  return new ToolError(`the result cannot be written as JSON: ${error?.message ?? typeof value}`)
}

/** The place in a value of something that JSON cannot express. */
function offender(value, path = 'it', above = []) {
  if (typeof value === 'bigint') return `${path} is a BigInt; use String() or Number() on it`
  if (typeof value === 'function' || typeof value === 'symbol')
    return path === 'it' ? `it is a ${typeof value}` : undefined
  if (typeof value === 'number' && !Number.isFinite(value))
    return `${path} is ${value}, which JSON cannot express; use null or a text`
  if (typeof value !== 'object' || value === null) return undefined
  if (value instanceof Date && Number.isNaN(value.getTime())) return `${path} is an invalid Date`
  if (typeof value.toJSON === 'function') return undefined
  const problem = unread(value)
  if (problem) return `${path} ${problem}`
  if (above.includes(value)) return `${path} contains itself`
  for (const [key, member] of Object.entries(value)) {
    const place = Array.isArray(value) ? `[${key}]` : `.${key}`
    const found = offender(member, path === 'it' ? `result${place}` : `${path}${place}`, [...above, value])
    if (found) return found
  }
  return undefined
}
