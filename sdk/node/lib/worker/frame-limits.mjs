// The server's limits of a frame. It kills a worker that sends more, with all state that the worker keeps; so
// a value that exceeds them is refused here, with a message, and fails only its own call.

// The same as `Limits` in the crate `wire`.
const MOST_LEVELS = 100
const LONGEST_NUMBER = 1000

// Shorter frames cannot exceed the limits.
const SHORT = 2 * MOST_LEVELS

// How much of a place to show.
const MOST_PARTS = 8

const [QUOTE, BACKSLASH, COMMA, MINUS] = ['"', '\\', ',', '-'].map((letter) => letter.charCodeAt(0))

/**
 * The part of this JSON that exceeds the limits, and its place: words that complete "it …". Undefined for
 * nearly all frames.
 */
export function misfit(frame) {
  return frame.length > SHORT && isTooMuch(frame) ? find(frame) : undefined
}

/** Scans the frame without recording the place. */
function isTooMuch(frame) {
  let levels = 0
  for (let at = 0; at < frame.length; at += 1) {
    const letter = frame.charCodeAt(at)
    if (letter === QUOTE) at = endOfText(frame, at)
    else if (isOpening(letter)) {
      levels += 1
      if (levels > MOST_LEVELS) return true
    } else if (isClosing(letter)) levels -= 1
    else if (isDigit(letter)) {
      const end = endOfNumber(frame, at)
      if (end - at >= LONGEST_NUMBER) return true
      at = end - 1
    }
  }
  return false
}

/** Scans it again, with a key or an index for each level. */
function find(frame) {
  const path = []
  for (let at = 0; at < frame.length; at += 1) {
    const letter = frame.charCodeAt(at)
    const last = path.length - 1
    if (letter === QUOTE) {
      const end = endOfText(frame, at)
      // The first text in an object, and after each comma, is a key.
      if (path[last] === undefined) path[last] = frame.slice(at + 1, end)
      at = end
    } else if (isOpening(letter)) {
      if (path.length === MOST_LEVELS) return `is nested more than ${MOST_LEVELS} levels deep at ${place(path)}`
      path.push(frame[at] === '[' ? 0 : undefined)
    } else if (isClosing(letter)) path.pop()
    else if (letter === COMMA) path[last] = typeof path[last] === 'number' ? path[last] + 1 : undefined
    else if (letter === MINUS || isDigit(letter)) {
      const end = endOfNumber(frame, at + 1)
      const digits = end - at
      if (digits > LONGEST_NUMBER)
        return `has a number of ${digits} digits at ${place(path)}, and ${LONGEST_NUMBER} are allowed`
      at = end - 1
    }
  }
  return undefined
}

function endOfText(frame, start) {
  let end = frame.indexOf('"', start + 1)
  while (isEscaped(frame, end)) end = frame.indexOf('"', end + 1)
  return end
}

function isEscaped(frame, at) {
  let backslashes = 0
  while (frame.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
  return backslashes % 2 === 1
}

function endOfNumber(frame, start) {
  let end = start
  while (isPartOfNumber(frame.charCodeAt(end))) end += 1
  return end
}

function isDigit(letter) {
  return letter >= 48 && letter <= 57
}

/** Digits, and + - . e E between them. */
function isPartOfNumber(letter) {
  return isDigit(letter) || letter === 43 || letter === MINUS || letter === 46 || letter === 69 || letter === 101
}

/** [ and {, and in the same way ] and }. */
function isOpening(letter) {
  return letter === 91 || letter === 123
}

function isClosing(letter) {
  return letter === 93 || letter === 125
}

function place(path) {
  // The first one belongs to the frame itself.
  const parts = path.slice(1).map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
  return parts.slice(0, MOST_PARTS).join('').replace(/^\./, '') + (parts.length > MOST_PARTS ? '…' : '')
}
