// Keeps the descriptors 0, 1 and 2. If a function closes one of them, the next opened file must not get its
// number: printed output would be written to that file, and input read from it.

import { closeSync, constants, fstatSync, openSync } from 'node:fs'

const NOTHING = '/dev/null'

const { O_RDONLY, O_WRONLY, O_APPEND } = constants
const FLAGS = [O_RDONLY, O_WRONLY | O_APPEND, O_WRONLY | O_APPEND]

export class Descriptors {
  // Copies to restore them. Frames arrive elsewhere, and standard input is empty.
  #copies = [undefined, copyOf(1), copyOf(2)]
  #known = FLAGS.map((_, number) => identity(number))

  /**
   * Reopens closed descriptors. Returns the number that another file has now: the code that opened it may
   * still write to it, so it must not be closed.
   */
  putBack() {
    for (const number of FLAGS.keys()) {
      const now = identity(number)
      if (now === this.#known[number]) continue
      if (now !== undefined || !this.#reopen(number)) return number
      this.#known[number] = identity(number)
    }
    return undefined
  }

  /** The kernel returns the lowest free number, which is this one, unless another thread is faster. */
  #reopen(number) {
    const copy = this.#copies[number]
    const opened = openSync(copy === undefined ? NOTHING : `/dev/fd/${copy}`, FLAGS[number])
    if (opened !== number) closeSync(opened)
    return opened === number
  }
}

/** The file behind a descriptor; undefined if it is closed. */
function identity(number) {
  try {
    const { dev, ino } = fstatSync(number)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** Another descriptor for the same pipe. Sockets cannot be reopened. */
function copyOf(number) {
  try {
    return openSync(`/dev/fd/${number}`, FLAGS[number])
  } catch {
    return undefined
  }
}
