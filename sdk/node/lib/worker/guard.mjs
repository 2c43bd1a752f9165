// Keeps a function from ending the worker by accident: process.exit() is an error of the function, and so is an exception
// that nobody catches.

/** Thrown in the place of the end of the process. */
export class ExitRefused extends Error {
  name = 'ExitRefused'

  constructor(code) {
    super(`process.exit(${code}) would end the worker: return a result or throw an error instead`)
    this.code = Number(code)
  }
}

/** Takes over process.exit and uncaught errors. Gives back the real end of the process. */
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
