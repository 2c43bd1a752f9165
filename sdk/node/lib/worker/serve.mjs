// The worker: loads a function file, reports its definitions, and answers calls until its input ends.

import { setImmediate, setTimeout } from 'node:timers'
import { Context } from '../context.mjs'
import { callOfThisCode, runInCall, setOutside } from '../current-call.mjs'
import { ToolError } from '../errors.mjs'
import { oneLine, shown, wholeTrace } from '../failures.mjs'
import { stringify } from '../json.mjs'
import { endAllKept, setNoteChanges } from '../keep.mjs'
import { logWhatIsPrinted } from '../printing.mjs'
import { answerWith, answerWithFailure } from './answers.mjs'
import { openChannel } from './channel.mjs'
import { Descriptors } from './descriptors.mjs'
import { ExitRefused, guardProcess } from './guard.mjs'
import { bindListeners, watchSharedResources } from './events-of-calls.mjs'
import { misfit } from './frame-limits.mjs'
import { Leftovers } from './leftovers.mjs'
import { LoadFailure, loadFunctionFile } from './load.mjs'
import { OutsideOfCalls } from './outside-of-calls.mjs'
import { Surroundings } from './surroundings.mjs'
import { WorkerCall } from './worker-call.mjs'

// A cancelled call that does not end by itself is answered after this long if others run beside it, since the
// server would kill the whole worker after a second. If it runs alone, it should be killed.
const CANCEL_GRACE_MS = 500

// The server kills a worker 2 s after TERM.
const END_LIMIT_MS = 1500

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

// Deep enough to find the author's own file below libraries.
const STACK_FRAMES = 50

/** Serves a function file for the life of this process. */
export async function serve(file) {
  const outside = new OutsideOfCalls()
  setOutside(outside)
  const worker = new Worker(outside)
  await worker.start(file)
}

/** Node exits when nothing can happen any more, even while the file is still loading. */
function neverLoaded(file) {
  return `${shown({ file, line: 1 })}: an \`await\` outside of all functions never ends, here or in a file that it imports; await something that ends, or move it into keep() or into the function that needs it`
}

class Worker {
  #outside
  #channel
  #exit
  #find
  #atOnce = 1
  #open = new Map()
  #waiting = []
  #surroundings
  #descriptors
  #leftovers
  #keptOpened = false
  #ready = false
  #ending = false
  #retiring = false
  #exitCode = 0
  #finishing = false

  constructor(outside) {
    this.#outside = outside
  }

  async start(file) {
    this.#channel = openChannel(
      (frame) => this.#take(frame),
      () => this.#inputEnded(),
    )
    // Child processes are not workers.
    delete process.env.MCP_WORKER
    delete process.env.MCP_WORKER_OUTPUT
    Error.stackTraceLimit = Math.max(Error.stackTraceLimit ?? 0, STACK_FRAMES)
    // The server shows the end of standard error to the caller whose call ends the worker. Output outside
    // calls may be about another caller, so it goes only to the operator, once there are calls.
    const outsideOf = (stream) => (this.#ready ? process.stdout : stream)
    logWhatIsPrinted([process.stdout, process.stderr], callOfThisCode, outsideOf)
    bindListeners()
    watchSharedResources()
    this.#exit = guardProcess((error) => this.#uncaught(error))
    const unsettled = () => this.#refuse(neverLoaded(file))
    process.once('exit', unsettled)
    let ready
    try {
      const loaded = await loadFunctionFile(file)
      this.#find = loaded.find
      this.#atOnce = loaded.options.atOnce ?? 1
      ready = stringify({ ready: loaded.ready })
      const problem = misfit(ready)
      if (problem) throw new LoadFailure(`${shown({ file, line: 1 })}: the definitions cannot be sent: what they say ${problem}`)
    } catch (error) {
      this.#refuse(error.message, error.trace ?? wholeTrace(error))
    }
    process.off('exit', unsettled)
    process.on('SIGTERM', () => this.#terminated())
    this.#surroundings = new Surroundings()
    this.#descriptors = new Descriptors()
    setNoteChanges((open) => this.#noteChanges(open))
    this.#channel.send(ready)
    this.#ready = true
    this.#outside.sendWith(this.#channel)
    this.#channel.listen()
    this.#leftovers = new Leftovers()
  }

  /** Reports that the file cannot be served, and exits. */
  #refuse(message, trace) {
    this.#channel.send(stringify({ failed: { message, trace } }))
    process.reallyExit(1)
  }

  #take(frame) {
    if (frame.cancel !== undefined) this.#cancel(frame.cancel)
    else if (frame.answer !== undefined) this.#open.get(frame.call)?.answered(frame)
    else if (frame.tool !== undefined || frame.resource !== undefined || frame.prompt !== undefined)
      this.#called(frame)
  }

  #called(frame) {
    if (this.#open.size < this.#atOnce) this.#begin(frame)
    else this.#waiting.push(frame)
  }

  #begin(frame) {
    const definition = this.#find(frame)
    if (!definition) {
      const name = frame.tool ?? frame.prompt ?? frame.resource
      this.#channel.send(
        stringify({
          call: frame.call,
          error: { code: INVALID_PARAMS, message: `this file has no '${name}'` },
        }),
      )
      return
    }
    const call = new WorkerCall(frame, definition, this.#channel)
    this.#open.set(call.id, call)
    let value
    try {
      definition.check?.(frame.arguments ?? {})
      value = runInCall(call, definition.handler, frame.arguments ?? {}, new Context(call))
      if (typeof value?.then === 'function') {
        this.#waitFor(call, value)
        return
      }
    } catch (error) {
      this.#failed(call, error)
      return
    }
    this.#returned(call, value)
  }

  async #waitFor(call, promise) {
    let value
    try {
      value = await promise
    } catch (error) {
      this.#failed(call, error)
      return
    }
    this.#returned(call, value)
  }

  #returned(call, value) {
    // It may already be answered: a call whose stray promise failed, or one that was cancelled.
    if (!call.open) return
    try {
      answerWith(call, value)
    } catch (error) {
      answerWithFailure(call, error)
    }
    this.#ended(call)
  }

  #failed(call, error) {
    if (!call.open) return
    answerWithFailure(call, error)
    this.#ended(call)
  }

  /** A call is answered. When none is open, the initial state is restored, while the server reads the answer. */
  #ended(call) {
    this.#open.delete(call.id)
    this.#lookAtDescriptors(call)
    if (this.#open.size === 0) this.#tidyUp(call)
    while (this.#waiting.length > 0 && this.#open.size < this.#atOnce) this.#begin(this.#waiting.shift())
    if (this.#ending && this.#open.size === 0) this.#finish()
  }

  /**
   * If another file has one of the first descriptors, the worker exits in order, and the next call gets a new
   * one.
   */
  #lookAtDescriptors(call) {
    if (this.#retiring) return
    const taken = this.#descriptors.putBack()
    if (taken === undefined) return
    this.#retiring = true
    this.#outside.tell(
      'warning',
      `${call.name} has closed descriptor ${taken}, and another file has its number: the worker ends after its open calls`,
    )
    this.#channel.stop()
    // Calls that have been read are still served.
    setImmediate(() => this.#inputEnded())
  }

  #tidyUp(call) {
    try {
      this.#surroundings.putBack()
    } catch (error) {
      this.#outside.tell('warning', `what ${call.name} has changed could not be put back: ${oneLine(error)}`)
    }
    if (this.#keptOpened) this.#leftovers.accept()
    else this.#leftovers.look(call.name, (message) => this.#outside.tell('notice', message))
    this.#keptOpened = false
  }

  /** Opening kept state may change the environment and start timers permanently. */
  #noteChanges(open) {
    this.#keptOpened = true
    return this.#surroundings.withLastingChanges(open)
  }

  #cancel(id) {
    const waiting = this.#waiting.findIndex((frame) => frame.call === id)
    if (waiting !== -1) {
      this.#waiting.splice(waiting, 1)
      this.#channel.send(
        stringify({ call: id, error: { code: INVALID_PARAMS, message: 'cancelled before it began' } }),
      )
      return
    }
    const call = this.#open.get(id)
    if (!call) return
    call.cancel()
    if (this.#atOnce > 1) setTimeout(() => this.#abandon(call), CANCEL_GRACE_MS).unref()
  }

  #abandon(call) {
    if (!call.open) return
    this.#outside.tell(
      'warning',
      `${call.name} goes on after its cancellation; give its signal to what it waits for`,
    )
    this.#failed(call, call.cancelled)
  }

  /**
   * An uncaught error belongs to the call that it comes from, and the worker continues. If it comes from no
   * call, it comes from the file itself or from kept state, which cannot be trusted any more: the worker
   * exits.
   */
  #uncaught(error) {
    if (!this.#ready) this.#refuse(`while the file was loaded: ${oneLine(error)}`, wholeTrace(error))
    const call = callOfThisCode()
    if (call?.open) {
      call.cancel('the call has failed')
      this.#failed(call, error)
    } else if (call) this.#outside.tell('warning', `left behind by ${call.name}: ${wholeTrace(error)}`)
    else if (error instanceof ExitRefused) this.#endWith(error.code, 'the worker is being ended')
    else this.#stateFailed(error)
  }

  #stateFailed(error) {
    this.#outside.tell('error', `the worker ends, since what it keeps has failed: ${wholeTrace(error)}`)
    this.#endWith(1, `what the file keeps has failed: ${oneLine(error)}`)
  }

  /** Exits by itself, after answering each call that is open or waits. */
  #endWith(code, why) {
    this.#exitCode = code
    this.#ending = true
    for (const { call } of this.#waiting) {
      this.#channel.send(stringify({ call, error: { code: INTERNAL_ERROR, message: why } }))
    }
    this.#waiting = []
    for (const call of [...this.#open.values()]) {
      call.cancel(why)
      this.#failed(call, new ToolError(why))
    }
    this.#finish()
  }

  #inputEnded() {
    this.#ending = true
    if (this.#open.size === 0) this.#finish()
  }

  #terminated() {
    for (const call of this.#open.values()) call.cancel('the worker is being ended')
    this.#finish()
  }

  /** Closes kept state, the last one first, and then exits. */
  async #finish() {
    if (this.#finishing) return
    this.#finishing = true
    setTimeout(() => this.#exit(this.#exitCode), END_LIMIT_MS)
    await endAllKept((error) => this.#outside.tell('warning', `at its end: ${wholeTrace(error)}`))
    this.#exit(this.#exitCode)
  }
}
