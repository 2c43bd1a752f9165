// Keeps the descriptors 0, 1 and 2 what they were. A function that closes one of them must not have the next file that anybody
// opens take its number: what is printed would be written into that file, and what is read would come from it.

import { closeSync, constants, fstatSync, openSync } from 'node:fs'

const NOTHING = '/dev/null'

const { O_RDONLY, O_WRONLY, O_APPEND } = constants
const FLAGS = [O_RDONLY, O_WRONLY | O_APPEND, O_WRONLY | O_APPEND]

export class Descriptors {
  // To put them back. Frames come in elsewhere, and standard input is empty.
  #copies = [undefined, copyOf(1), copyOf(2)]
  #known = FLAGS.map((_, number) => identity(number))

  /**
   * Opens again what was closed. Gives back the number behind which there is another file now: whoever has opened that
   * still writes to it, so that it must not be closed.
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

  /** The lowest number that is free is taken, which it is, unless another thread is quicker. */
  #reopen(number) {
    const copy = this.#copies[number]
    const opened = openSync(copy === undefined ? NOTHING : `/dev/fd/${copy}`, FLAGS[number])
    if (opened !== number) closeSync(opened)
    return opened === number
  }
}

/** Which file is behind a descriptor, undefined if it is closed. */
function identity(number) {
  try {
    const { dev, ino } = fstatSync(number)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** Another descriptor for the same pipe. Sockets cannot be opened again. */
function copyOf(number) {
  try {
    return openSync(`/dev/fd/${number}`, FLAGS[number])
  } catch {
    return undefined
  }
}
