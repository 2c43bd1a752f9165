// The process state of every call: environment, working folder, umask, listeners of the process. Changes of a
// call are undone after it.

// The end of the process belongs to no call: libraries wait for it, and add themselves on first use.
const LISTENED_FOR_GOOD = new Set(['exit', 'beforeExit'])

export class Surroundings {
  #folder = process.cwd()
  #mask = process.umask()
  #environment = new WatchedEnvironment()
  #variables = { ...process.env }
  #listeners = listenersNow()

  putBack() {
    if (this.#environment.hasChanged()) this.#putBackVariables()
    process.umask(this.#mask)
    if (folderNow() !== this.#folder) process.chdir(this.#folder)
    this.#putBackListeners()
  }

  /** Runs code whose changes are permanent, and makes them part of the initial state of every call. */
  async withLastingChanges(work) {
    const variables = { ...process.env }
    const listeners = listenersNow()
    try {
      return await work()
    } finally {
      for (const [name, value] of Object.entries(process.env))
        if (variables[name] !== value) this.#variables[name] = value
      for (const name of Object.keys(variables)) if (!(name in process.env)) delete this.#variables[name]
      for (const [event, now] of listenersNow()) {
        const added = now.filter((listener) => !listeners.get(event)?.includes(listener))
        if (added.length > 0) this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), ...added])
      }
    }
  }

  #putBackVariables() {
    const now = process.env
    const names = Object.keys(now)
    let known = 0
    for (const name of names) {
      const value = this.#variables[name]
      if (value === undefined) delete now[name]
      else {
        known += 1
        if (now[name] !== value) now[name] = value
      }
    }
    if (known < Object.keys(this.#variables).length) Object.assign(now, this.#variables)
    this.#environment.isAsItWas()
  }

  #putBackListeners() {
    for (const event of process.eventNames()) {
      if (LISTENED_FOR_GOOD.has(event)) continue
      const known = this.#listeners.get(event)
      for (const listener of process.rawListeners(event)) {
        if (!known?.includes(listener)) process.removeListener(event, listener)
      }
    }
    for (const [event, listeners] of this.#listeners) {
      const now = process.rawListeners(event)
      for (const listener of listeners) if (!now.includes(listener)) process.on(event, listener)
    }
  }
}

/**
 * Detects writes to process.env: reading all of it after each call would take longer than most calls. Changes
 * behind node's back, as by native code, are not detected.
 */
class WatchedEnvironment {
  #changed = false
  #watched

  constructor() {
    const noting =
      (change) =>
      (...parameters) => {
        this.#changed = true
        return change(...parameters)
      }
    const { set, deleteProperty, defineProperty } = Reflect
    this.#watched = new Proxy(process.env, {
      set: noting((target, name, value) => set(target, name, value)),
      deleteProperty: noting(deleteProperty),
      defineProperty: noting(defineProperty),
    })
    process.env = this.#watched
    const { loadEnvFile } = process
    if (loadEnvFile) process.loadEnvFile = noting(loadEnvFile)
  }

  hasChanged() {
    // The whole object may have been replaced by another.
    if (process.env === this.#watched) return this.#changed
    process.env = this.#watched
    return true
  }

  isAsItWas() {
    this.#changed = false
  }
}

function listenersNow() {
  const all = process.eventNames().filter((event) => !LISTENED_FOR_GOOD.has(event))
  return new Map(all.map((event) => [event, process.rawListeners(event)]))
}

/** The working folder; undefined if it no longer exists. */
function folderNow() {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}
