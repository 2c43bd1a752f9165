// What every call finds around it: environment, working folder, umask, listeners of the process. Whatever a call has
// changed is put back after it.

// The end of the process is nobody's call: libraries wait for it, and add themselves whenever they are first used.
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

  /** Runs what may change things for good, and takes its changes for a part of what every call finds. */
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
 * Notices that somebody writes to process.env: to read all of it after each call would take longer than most calls. What
 * changes the environment behind node's back, as native code may, is not noticed.
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
    // One whole object may have been put in the place of the other.
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

/** The working folder, undefined if it is not there any more. */
function folderNow() {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}
