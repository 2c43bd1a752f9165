// State that a worker keeps between calls on purpose: opened on first use, shared by all calls, closed with
// the worker.

import { runOutsideOfCalls } from './current-call.mjs'

const opened = []
let isUsed = false

/** Whether this process keeps anything, now or later. */
export function keepsState() {
  return isUsed
}

// A worker records what opening changes around it (environment, listeners), so that this is not undone after
// the call.
let noteChanges = (open) => open()

export function setNoteChanges(note) {
  noteChanges = note
}

/**
 * `const db = keep(open, close)`: `await db()` gives the same object to every call. A failed `open` is tried again by the
 * next call. `db.end()` closes it early; the next use opens another.
 */
export function keep(open, close) {
  if (typeof open !== 'function') throw new TypeError('keep() needs a function that opens what is kept')
  isUsed = true
  let current

  const end = async () => {
    const ending = current
    if (ending === undefined) return
    current = undefined
    opened.splice(opened.indexOf(end), 1)
    const object = await ending.catch(() => undefined)
    if (object !== undefined) await close?.(object)
  }

  const use = () => {
    if (current === undefined) {
      opened.push(end)
      // It outlives the first call, so it must not belong to it.
      const opening = runOutsideOfCalls(() => noteChanges(async () => open()))
      current = opening
      opening.catch(() => {
        if (current !== opening) return
        current = undefined
        opened.splice(opened.indexOf(end), 1)
      })
    }
    return current
  }
  use.end = end
  return use
}

/** Closes everything that is open, the last one first. Failures are logged and do not stop the others. */
export async function endAllKept(tell) {
  while (opened.length > 0) {
    try {
      await opened[opened.length - 1]()
    } catch (error) {
      tell(error)
    }
  }
}
