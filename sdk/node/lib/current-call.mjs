// The call that the running code belongs to. In a worker each call has its own; a plain script is a single
// call.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Cancelled, CannotAsk, ToolError } from './errors.mjs'
import { PrintedText } from './printed-text.mjs'

const storage = new AsyncLocalStorage()

// The call for code outside any call: that of a plain script, or the worker itself.
let outside

/** The first one wins: a worker has set it before a function file loads the parts for plain scripts. */
export function setOutside(call) {
  outside ??= call
}

/** The call of this code, or its substitute: outside a call, and in code that an ended call left running. */
export function currentCall() {
  const call = storage.getStore()
  return call?.open ? call : outside
}

/** The call of this code, even if it has ended; undefined outside a call. */
export function callOfThisCode() {
  return storage.getStore()
}

/** The substitute outside calls. */
export function outsideOfCalls() {
  return outside
}

export function runInCall(call, work, ...parameters) {
  return storage.run(call, work, ...parameters)
}

/** Runs code that outlives the call that happened to start it. */
export function runOutsideOfCalls(work) {
  return storage.exit(work)
}

/**
 * The interface of a call for the rest of the SDK. A worker and a plain script extend it with their output:
 * `notify(method, params)` and `question(body, signal)`, which resolves to the client's result.
 */
export class Call {
  name = ''
  meta = {}
  roots = []
  rootsRefused = undefined
  /** Whether the client has roots that it sends only on request. */
  hasUnaskedRoots = false
  folder = undefined
  caller = undefined
  callerGroups = []
  callerClaims = {}
  trace = {}
  wantsProgress = false
  canElicit = false
  canAsk = false
  /** The state of the client's session, by name. */
  get state() {
    throw new ToolError('There is no session here: only a tool of a function file has the state of one')
  }
  /** The reason for refusing a question if the client cannot ask. */
  cannotAsk = 'this client cannot be asked'
  cancelled = undefined
  open = true
  #controller
  #printed
  #rootsQuestion

  /** Created on first use, since most functions never need it. */
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

  /** Asks for the client's roots, unless they are known. Concurrent callers share one question. */
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
      // If the client does not answer, the project's roots remain.
      if (!(error instanceof CannotAsk)) throw error
    }
    this.hasUnaskedRoots = false
  }

  /** Printed output is logged. */
  print(text, level) {
    this.#printed ??= new PrintedText((data, level) =>
      this.notify('notifications/message', { level, logger: this.name, data }),
    )
    this.#printed.add(text, level)
  }

  /** Logs printed output without its line end. */
  flushPrinted() {
    this.#printed?.flush()
  }
}
