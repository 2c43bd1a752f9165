// Keeps a function from ending the worker by accident: process.exit() is an error of the function, and so is
// an uncaught exception.

/** Thrown instead of ending the process. */
export class ExitRefused extends Error {
  name = 'ExitRefused'

  constructor(code) {
    super(`process.exit(${code}) would end the worker: return a result or throw an error instead`)
    this.code = Number(code)
  }
}

/** Replaces process.exit and handles uncaught errors. Returns the real exit function. */
export function guardProcess(onUncaught) {
  const exit = process.exit.bind(process)
  process.exit = (code = process.exitCode ?? 0) => {
    process.exitCode = undefined
    throw new ExitRefused(code)
  }
  process.on('uncaughtException', onUncaught)
  process.on('unhandledRejection', onUncaught)
  return exit
}
