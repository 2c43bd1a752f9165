// Assigns events to calls. A listener runs in the call that added it, no matter which call emits the event:
// node would run it in the call that emits, or in the one that happened to open the connection.

import { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { callOfThisCode, runInCall } from '../current-call.mjs'

const OPENED_BY = Symbol('mcp-bash.opened-by')
const SHARED = Symbol('mcp-bash.shared')
const PARTS = Symbol('mcp-bash.parts')

// Instead of a call: work of an unknown call.
const NOBODY = { open: false, name: 'what several calls use' }

/** Makes each listener that is added in a call run in that call. */
export function bindListeners() {
  const { on, prependListener } = EventEmitter.prototype
  const adding = (add, bind) =>
    function (event, listener) {
      const call = callOfThisCode()
      const isBound = call !== undefined && typeof listener === 'function'
      return add.call(this, event, isBound ? bind(call, listener, event) : listener)
    }
  const { once, prependOnceListener } = EventEmitter.prototype
  const addingOnce = (add, addOutside) => {
    const addBound = adding(add, boundOnce)
    return function (event, listener) {
      return (callOfThisCode() === undefined ? addOutside : addBound).call(this, event, listener)
    }
  }
  Object.assign(EventEmitter.prototype, {
    on: adding(on, bound),
    addListener: adding(on, bound),
    prependListener: adding(prependListener, bound),
    once: addingOnce(viaOwn('on'), once),
    prependOnceListener: addingOnce(viaOwn('prependListener'), prependOnceListener),
  })
}

/** Streams have their own `on`, which has to see added listeners. */
function viaOwn(name) {
  return function (event, listener) {
    return this[name](event, listener)
  }
}

// Already bound listeners: `once` calls `on`.
const known = new WeakSet()

/** Emitters remove a listener by the function in its `listener`, as they do for `once`. */
function bound(call, listener) {
  if (known.has(listener)) return listener
  return noted(listener, function (...parameters) {
    const whose = this?.[SHARED] ? NOBODY : call
    if (callOfThisCode() === whose) return listener.apply(this, parameters)
    return runInCall(whose, () => listener.apply(this, parameters))
  })
}

function boundOnce(call, listener, event) {
  const once = noted(listener, function (...parameters) {
    this.removeListener(event, once)
    return run.apply(this, parameters)
  })
  const run = bound(call, listener)
  return once
}

function noted(listener, wrapper) {
  wrapper.listener = listener
  known.add(wrapper)
  return wrapper
}

/**
 * A connection, a process or a thread that one call has opened and another one uses: at best the library
 * knows which call an event belongs to, so its events belong to no call. Promises still continue in the call
 * that awaits them.
 */
export function watchSharedResources() {
  noteUse(Socket.prototype, ['connect', 'write'])
  noteUse(Worker.prototype, ['postMessage'])
  noteUse(ChildProcess.prototype, ['send'])
  const { spawn } = ChildProcess.prototype
  ChildProcess.prototype.spawn = function (...parameters) {
    const spawned = spawn.apply(this, parameters)
    const parts = [this, this.stdin, this.stdout, this.stderr].filter(Boolean)
    for (const part of parts) {
      part[PARTS] = parts
      part[OPENED_BY] = callOfThisCode()
    }
    return spawned
  }
}

function noteUse(prototype, names) {
  for (const name of names) {
    const use = prototype[name]
    prototype[name] = function (...parameters) {
      const call = callOfThisCode()
      if (call !== undefined && (this[OPENED_BY] ??= call) !== call && !this[SHARED]) share(this)
      return use.apply(this, parameters)
    }
  }
}

function share(resource) {
  for (const part of resource[PARTS] ?? [resource]) {
    part[SHARED] = true
    const { emit } = part
    part.emit = function (...parameters) {
      return runInCall(NOBODY, () => emit.apply(this, parameters))
    }
  }
}
