// Notifications that are not longer than their reader accepts.

import { stringify } from './json.mjs'

/** The byte length of a text if it exceeds `most`, otherwise undefined. Only long texts are counted. */
export function bytesOver(most, text) {
  // A UTF-16 unit takes up to three bytes.
  if (text.length * 3 <= most) return undefined
  const bytes = Buffer.byteLength(text)
  return bytes > most ? bytes : undefined
}

/**
 * A notification as JSON of at most `most` bytes, which `write` makes from its params: long texts are cut,
 * visibly.
 */
export function shortNotification(method, params, most, write) {
  const whole = write(params)
  if (bytesOver(most, whole) === undefined) return whole
  const key = method === 'notifications/progress' ? 'message' : 'data'
  const text = typeof params[key] === 'string' ? params[key] : stringify(params[key])
  for (let length = most; ; length = Math.floor(length * 0.75)) {
    const cut = `${text.slice(0, length)}… [cut: ${text.length} characters in all]`
    const written = write({ ...params, [key]: cut })
    if (bytesOver(most, written) === undefined || length === 0) return written
  }
}
