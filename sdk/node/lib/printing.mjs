// Sends printed output to the call that it belongs to. Outside calls it goes to the operator, as usual.

// console.error and console.warn differ only in their name by the time they reach standard error.
const LEVELS = { debug: 'debug', error: 'error', warn: 'warning', trace: 'debug' }

let level

/**
 * Replaces these streams and the console for the life of this process. `find` returns the call of the running
 * code, and `outsideOf` the stream for output outside calls: the stream itself by default.
 */
export function logWhatIsPrinted(streams, find, outsideOf = (stream) => stream) {
  const writes = new Map([process.stdout, process.stderr].map((stream) => [stream, stream.write]))
  const writeOutside = (stream, chunk, encoding, done) => {
    const outside = outsideOf(stream)
    return writes.get(outside).call(outside, chunk, encoding, done)
  }
  for (const stream of streams) divert(stream, stream === process.stderr ? 'warning' : 'info', find, writeOutside)
  for (const [name, itsLevel] of Object.entries(LEVELS)) withLevel(name, itsLevel)
}

function divert(stream, usual, find, writeOutside) {
  // A function may have closed its descriptor; that must not end the worker.
  stream.on('error', () => {})
  stream.write = function (chunk, encoding, done) {
    const call = find()
    if (!call?.open) return writeOutside(stream, chunk, encoding, done)
    call.print(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString(), level ?? usual)
    const callback = typeof encoding === 'function' ? encoding : done
    if (typeof callback === 'function') process.nextTick(callback)
    return true
  }
}

function withLevel(name, itsLevel) {
  const print = console[name]
  console[name] = (...parts) => {
    level = itsLevel
    try {
      print.apply(console, parts)
    } finally {
      level = undefined
    }
  }
}
