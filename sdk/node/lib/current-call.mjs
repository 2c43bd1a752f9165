// Which call the running code belongs to. In a worker each call has its own; a plain script is one call from start to end.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Cancelled } from './errors.mjs'
import { PrintedText } from './printed-text.mjs'

const storage = new AsyncLocalStorage()

// What code outside of any call belongs to: the call of a plain script, or the worker itself.
let outside

/** The first one counts: a worker has said what it is before a function file brings in the parts for plain scripts. */
export function setOutside(call) {
  outside ??= call
}

/** The call that this code belongs to, or what stands for it: outside of one, and in what an ended call has left running. */
export function currentCall() {
  const call = storage.getStore()
  return call?.open ? call : outside
}

/** The call that this code belongs to, though it may have ended; undefined outside of one. */
export function callOfThisCode() {
  return storage.getStore()
}

/** What stands for the call where there is none. */
export function outsideOfCalls() {
  return outside
}

export function runInCall(call, work, ...parameters) {
  return storage.run(call, work, ...parameters)
}

/** Runs what outlives the call that happened to start it. */
export function runOutsideOfCalls(work) {
  return storage.exit(work)
}

/**
 * What the rest of the SDK needs of a call. A worker and a plain script extend it with the way out: `notify(method, params)`
 * and `question(body, signal)`, which resolves to the client's result.
 */
export class Call {
  name = ''
  meta = {}
  roots = []
  rootsRefused = undefined
  folder = undefined
  caller = undefined
  trace = {}
  wantsProgress = false
  canElicit = false
  canAsk = false
  /** What a question is refused with where nobody can be asked. */
  cannotAsk = 'this client cannot be asked'
  cancelled = undefined
  open = true
  #controller
  #printed

  /** Made when first asked for, since most functions never look at it. */
  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.cancelled) this.#controller.abort(this.cancelled)
    }
    return this.#controller.signal
  }

  cancel(why = 'the client has cancelled the call') {
    if (this.cancelled) return
    this.cancelled = new Cancelled(why)
    this.#controller?.abort(this.cancelled)
  }

  /** What is printed is logged. */
  print(text, level) {
    this.#printed ??= new PrintedText((data, level) =>
      this.notify('notifications/message', { level, logger: this.name, data }),
    )
    this.#printed.add(text, level)
  }

  /** Logs what was printed without the end of its line. */
  flushPrinted() {
    this.#printed?.flush()
  }
}
