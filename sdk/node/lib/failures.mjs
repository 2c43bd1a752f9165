// Turns an exception into one line that a model can act on, with the place in the author's own file.

import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { Cancelled, CannotAsk, Declined, ProtocolError, ToolError } from './errors.mjs'

const MEANT = [ToolError, ProtocolError, Declined, Cancelled, CannotAsk]
const SDK_URL = new URL('..', import.meta.url).href
const SDK = fileURLToPath(SDK_URL)

// How many causes to follow, and how much of the last one to show.
const MOST_CAUSES = 10
const LONGEST_REASON = 500

/** Errors whose message is shown unchanged. */
export function isMeant(error) {
  try {
    return MEANT.some((kind) => error instanceof kind)
  } catch {
    return false
  }
}

/** One line for the model: the error, and its place in the author's own files. */
export function oneLine(error) {
  try {
    return describe(error)
  } catch {
    // It has proxy traps or getters that throw.
    return 'the function threw something that cannot be shown'
  }
}

function describe(error) {
  if (isMeant(error)) return withHint(messageOf(error), error.hint)
  const what =
    error instanceof Error
      ? `${error.name}: ${messageOf(error)}${reason(error)}`
      : `the function threw ${inspect(error, { breakLength: Infinity })}`
  const place = placeOf(error)
  return (place ? `${what} (${place})` : what).replace(/\s*\n\s*/g, ' ')
}

function messageOf(error) {
  const message = String(error.message ?? '')
  return message === '' ? String(error.code ?? `${error.name} without a message`) : message
}

/** The reason behind a vague error such as `fetch failed`: the last of its causes. */
export function reason(error) {
  const last = lastCause(error)
  const told = (last === error ? '' : `, caused by ${named(last)}`) + firstOfSeveral(last)
  return told.length > LONGEST_REASON ? `${told.slice(0, LONGEST_REASON)}…` : told
}

function lastCause(error) {
  let last = error
  for (let count = 0; count < MOST_CAUSES && last?.cause != null; count += 1) last = last.cause
  return last
}

function named(value) {
  if (value instanceof Error) return `${value.name}: ${messageOf(value)}`
  return typeof value === 'string' ? value : inspect(value, { depth: 1, breakLength: Infinity })
}

/** An AggregateError does not describe the errors in it. */
function firstOfSeveral(error) {
  if (!(error instanceof AggregateError) || !(error.errors?.length > 0)) return ''
  const { errors } = error
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `: ${named(lastCause(errors[0]))}${more}`
}

/** Most models see only the text. */
function withHint(message, hint) {
  if (hint === undefined) return message
  return `${message}${/[.!?]$/.test(message) ? '' : '.'} Hint: ${hint}`
}

/** The structured form of an error: { type, message, hint, data }. */
export function errorData(error) {
  if (!isMeant(error)) return { type: typeOf(error), message: oneLine(error) }
  const { type, message, hint, data = {} } = error
  const described = { type, message }
  if (hint !== undefined) described.hint = hint
  if (Object.keys(data).length > 0) described.data = data
  return described
}

function typeOf(error) {
  try {
    return error instanceof Error ? error.name : 'error'
  } catch {
    return 'error'
  }
}

/**
 * The stack trace for the log, without the frames of this SDK and of node's internals below the author's
 * function.
 */
export function wholeTrace(error) {
  try {
    return error instanceof Error ? withoutOurs(inspect(error)) : `thrown: ${inspect(error)}`
  } catch {
    return 'thrown: something that cannot be shown'
  }
}

function withoutOurs(trace) {
  const rows = []
  for (const row of trace.split('\n')) {
    if (!isOurs(row)) rows.push(row)
    // Members of the error are in braces after its last line.
    else if (row.endsWith(' {') && rows.length > 0) rows[rows.length - 1] += ' {'
  }
  return rows.join('\n')
}

function isOurs(row) {
  if (!/^\s+at /.test(row)) return false
  return /node:internal\/|node:async_hooks/.test(row) || row.includes(SDK) || row.includes(SDK_URL)
}

/** The first place in a stack in the author's own code: not in this SDK, in node or in a package, if possible. */
export function placeOf(error) {
  const places = placesOf(error)
  return shown(places.find(({ file }) => !file.includes(`${sep}node_modules${sep}`)) ?? places[0])
}

/** The places in a stack outside this SDK, innermost first: { file, line, column }. */
export function placesOf(error) {
  const places = []
  const stack = typeof error?.stack === 'string' ? error.stack : ''
  for (const row of stack.split('\n')) {
    // A syntax error has its place on a separate line, without a column.
    const found =
      /^(?:\s+at (?:.*? )?)?\(?(?<file>file:\/\/\/[^\s)]+?|\/[^)]+?):(?<line>\d+)(?::(?<column>\d+))?\)?$/.exec(
        row,
      )
    if (!found) continue
    const { file, line, column = 1 } = found.groups
    const path = filePath(file)
    if (path && !path.startsWith(SDK)) places.push({ file: path, line: Number(line), column: Number(column) })
  }
  return places
}

function filePath(file) {
  if (!file.startsWith('file:')) return file
  try {
    return fileURLToPath(file)
  } catch {
    return undefined
  }
}

/** A place in readable form: relative to the project if it is inside. */
export function shown(place) {
  if (!place) return undefined
  const { MCPBASH_PROJECT_ROOT: root = process.cwd() } = process.env
  const path = relative(root, place.file)
  return `${path.startsWith('..') ? place.file : path}:${place.line}`
}
