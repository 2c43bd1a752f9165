// Plain scripts: one process per call, with everything in its environment (docs/channel.md).

import { openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { Context } from './context.mjs'
import { Call, currentCall, setOutside } from './current-call.mjs'
import { ProtocolError } from './errors.mjs'
import { errorData, isMeant, oneLine, wholeTrace } from './failures.mjs'
import { parse, stringify } from './json.mjs'
import { endAllKept } from './keep.mjs'
import { logWhatIsPrinted } from './printing.mjs'
import { errorResult, toolResult } from './results.mjs'
import { shortNotification } from './short-notification.mjs'

// A pipe accepts a line of this length atomically, even with other writers.
const LONGEST_LINE = 4096

/** A value in the variable NAME_JSON, or in the file named by NAME_FILE if it is long. */
function fromEnvironment(name, otherwise) {
  const file = process.env[`${name}_FILE`]
  const text = process.env[`${name}_JSON`] || (file && readFileSync(file, 'utf8'))
  return text ? parse(text) : otherwise
}

function traceOf({ TRACEPARENT: traceparent, TRACESTATE: tracestate, BAGGAGE: baggage }) {
  return {
    ...(traceparent && { traceparent }),
    ...(tracestate && { tracestate }),
    ...(baggage && { baggage }),
  }
}

class ScriptCall extends Call {
  #streams = new Map()
  #watching = false

  constructor() {
    super()
    const { env } = process
    this.name = env.MCP_TOOL_NAME ?? ''
    this.meta = fromEnvironment('MCP_TOOL_META', {})
    this.roots = fromEnvironment('MCP_ROOTS', [])
    this.rootsRefused = env.MCP_ROOTS_REFUSED
    this.hasUnaskedRoots = env.MCP_ROOTS_ASK === '1'
    this.folder = env.MCP_CANCEL_FILE && dirname(env.MCP_CANCEL_FILE)
    this.trace = traceOf(env)
    this.wantsProgress = Boolean(env.MCP_PROGRESS_STREAM && env.MCP_PROGRESS_TOKEN)
    this.canElicit = env.MCP_ELICIT_SUPPORTED === '1'
    this.canAsk = Boolean(env.MCP_ASK_SOCKET)
  }

  /** The server sends TERM when the client cancels. The handler is installed only if the script uses the signal. */
  get signal() {
    if (!this.#watching) process.once('SIGTERM', () => this.cancel())
    this.#watching = true
    return super.signal
  }

  notify(method, params) {
    const stream = process.env[method === 'notifications/progress' ? 'MCP_PROGRESS_STREAM' : 'MCP_LOG_STREAM']
    if (!stream) return
    try {
      const write = (params) => stringify({ method, params })
      writeSync(this.#opened(stream), `${shortNotification(method, params, LONGEST_LINE - 1, write)}\n`)
    } catch {
      // There is no reader any more, which is not an error.
    }
  }

  /** A pipe is opened for reading too, so that it neither blocks nor fails without a reader. */
  #opened(path) {
    if (!this.#streams.has(path))
      this.#streams.set(path, openSync(path, statSync(path).isFIFO() ? 'r+' : 'a'))
    return this.#streams.get(path)
  }

  async question(body, signal) {
    const { askThroughSocket } = await import('./ask-socket.mjs')
    return askThroughSocket(
      body,
      [signal, this.#watching ? this.signal : undefined].filter((one) => one !== undefined),
    )
  }
}

const script = new ScriptCall()
setOutside(script)

/** The arguments of a plain script. A handler receives its own. */
export const args = fromEnvironment('MCP_TOOL_ARGS', {})

/** Prints the result of a plain script, from any value that a handler may return. */
export function answer(value) {
  print(toolResult(value))
}

/** Runs a plain script like a handler: its return value or exception is the result, and printed output is logged. */
export async function main(handler) {
  logWhatIsPrinted([process.stdout], currentCall)
  try {
    answer(await handler(args, new Context(script)))
  } catch (error) {
    fail(error)
  }
  await endAllKept((error) => process.stderr.write(`${wholeTrace(error)}\n`))
  script.flushPrinted()
}

function fail(error) {
  const message = oneLine(error)
  if (!isMeant(error)) process.stderr.write(`${wholeTrace(error)}\n`)
  if (!(error instanceof ProtocolError)) {
    print(errorResult(message, errorData(error)))
    return
  }
  const { code, data } = error
  if (process.env.MCP_TOOL_ERROR_FILE)
    writeFileSync(process.env.MCP_TOOL_ERROR_FILE, stringify({ code, message, data }))
  process.exitCode = 1
}

/** Writes directly to the descriptor, past a replaced stream. */
function print(json) {
  const bytes = Buffer.from(`${json}\n`)
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at)
}
