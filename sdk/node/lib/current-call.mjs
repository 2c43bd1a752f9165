// Which call the running code belongs to. In a worker each call has its own; a plain script is one call from start to end.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Cancelled, CannotAsk } from './errors.mjs'
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
  /** Whether the client has folders of its own that it names only when it is asked. */
  hasUnaskedRoots = false
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
  #rootsQuestion

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

  /** Asks for the client's folders, unless they are known. Those who ask at the same time share one question. */
  async learnRoots() {
    if (this.hasUnaskedRoots) {
      this.#rootsQuestion ??= this.#askForRoots().finally(() => (this.#rootsQuestion = undefined))
      await this.#rootsQuestion
    }
  }

  async #askForRoots() {
    if (this.cancelled) throw this.cancelled
    try {
      const { roots, refused } = await this.question({ method: 'roots/list' })
      this.roots = roots ?? []
      this.rootsRefused = refused
    } catch (error) {
      // A client that does not answer leaves it at the folders of the project.
      if (!(error instanceof CannotAsk)) throw error
    }
    this.hasUnaskedRoots = false
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
