// Keeps a function from ending the worker by accident: process.exit() is an error of the function, and so is an exception
// that nobody catches.

class ExitRefused extends Error {
  name = 'ExitRefused'
}

/** Takes over process.exit and uncaught errors. Gives back the real end of the process. */
export function guardProcess(onUncaught) {
  const exit = process.exit.bind(process)
  process.exit = (code = process.exitCode ?? 0) => {
    process.exitCode = undefined
    throw new ExitRefused(
      `process.exit(${code}) would end the worker: return a result or throw an error instead`,
    )
  }
  process.on('uncaughtException', onUncaught)
  process.on('unhandledRejection', onUncaught)
  return exit
}
