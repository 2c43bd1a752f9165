// The context of a call: as functions of the module, which find the call by themselves, and as the second
// parameter of a handler, which is bound to it.

import { format, inspect } from 'node:util'
import { currentCall } from './current-call.mjs'
import { stringify } from './json.mjs'
import * as questions from './questions.mjs'
import * as folders from './roots.mjs'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** progress(done, total, message), progress(done, message) or progress(done). */
export function progress(done, total, message) {
  progressOf(currentCall(), done, total, message)
}

function progressOf(call, done, total, message) {
  if (typeof total === 'string') [total, message] = [undefined, total]
  if (!Number.isFinite(done))
    throw new TypeError(`progress() needs a number that says how much is done, not ${inspect(done)}`)
  if (!call.wantsProgress) return
  const params = { progress: done }
  if (Number.isFinite(total)) params.total = total
  if (message !== undefined && message !== null) params.message = String(message)
  call.notify('notifications/progress', params)
}

function logTo(find) {
  const log = (level, ...parts) => writeLog(find(), level, parts)
  for (const level of LEVELS) log[level] = (...parts) => writeLog(find(), level, parts)
  log.warn = log.warning
  return log
}

/**
 * log.info('text'), log.warning({ any: 'data' }), log('notice', …). Several parts become one text, as in
 * console.log.
 */
export const log = logTo(currentCall)

function writeLog(call, level, parts) {
  if (!LEVELS.includes(level))
    throw new TypeError(`there is no log level ${inspect(level)}: one of ${LEVELS.join(', ')}`)
  call.notify('notifications/message', { level, logger: call.name, data: loggable(parts) })
}

function loggable(parts) {
  if (parts.length !== 1) return format(...parts)
  const [data] = parts
  if (data === undefined) return 'undefined'
  if (data instanceof Error) return inspect(data)
  try {
    if (stringify(data) !== undefined) return data
  } catch {
    // Written below in a readable form.
  }
  return inspect(data)
}

/** The `_meta` of the request: data from the client that the model does not see. */
export function meta() {
  return currentCall().meta
}

/** An AbortSignal that is aborted when the client cancels the call. */
export function signal() {
  return currentCall().signal
}

/** A private folder of this call, removed after it; undefined if there is none. */
export function folder() {
  return currentCall().folder
}

/** The caller, if the server knows it. */
export function caller() {
  return currentCall().caller
}

/** The groups of the caller. */
export function callerGroups() {
  return currentCall().callerGroups
}

/** What the caller's identity provider says about it, as far as the operator passes it on. */
export function callerClaims() {
  return currentCall().callerClaims
}

/** The state of the client's session: an object of JSON values, kept from one call to the next. */
export function state() {
  return currentCall().state
}

/** The trace context of the call, as in headers: { traceparent, tracestate, baggage }, each if present. */
export function trace() {
  return currentCall().trace
}

/** The second parameter of a handler. Its members can be destructured: `({ a }, { progress, signal }) => …`. */
export class Context {
  #call
  #log

  constructor(call) {
    this.#call = call
  }

  get progress() {
    return (done, total, message) => progressOf(this.#call, done, total, message)
  }

  get log() {
    return (this.#log ??= logTo(() => this.#call))
  }

  get ask() {
    return (message, fields, options) => questions.askOf(this.#call, message, fields, options)
  }

  get askAll() {
    return (all, options) => questions.askAllOf(this.#call, all, options)
  }

  get askUrl() {
    return (message, url, options) => questions.askUrlOf(this.#call, message, url, options)
  }

  get confirm() {
    return (message, options) => questions.confirmOf(this.#call, message, options)
  }

  get choose() {
    return (message, choices, options) => questions.chooseOf(this.#call, message, choices, options)
  }

  get sample() {
    return (messages, options) => questions.sampleOf(this.#call, messages, options)
  }

  get roots() {
    return () => folders.rootsOf(this.#call)
  }

  get insideRoots() {
    return (path) => folders.insideRootsOf(this.#call, path)
  }

  get askRoots() {
    return () => folders.askRootsOf(this.#call)
  }

  get askInsideRoots() {
    return (path) => folders.askInsideRootsOf(this.#call, path)
  }

  get meta() {
    return () => this.#call.meta
  }

  get signal() {
    return this.#call.signal
  }

  get folder() {
    return this.#call.folder
  }

  get caller() {
    return this.#call.caller
  }

  get callerGroups() {
    return this.#call.callerGroups
  }

  get callerClaims() {
    return this.#call.callerClaims
  }

  get state() {
    return this.#call.state
  }

  get trace() {
    return this.#call.trace
  }

  /** The name of the tool, resource or prompt. */
  get name() {
    return this.#call.name
  }
}
