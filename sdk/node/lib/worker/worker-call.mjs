// One open call of a worker: its frames to the server, its questions, and its only answer.

import { Call, outsideOfCalls } from '../current-call.mjs'
import { CannotAsk } from '../errors.mjs'
import { stringify } from '../json.mjs'
import { bytesOver } from '../short-notification.mjs'
import { fittingNotification } from './fitting-notification.mjs'
import { misfit } from './frame-limits.mjs'
import { SessionState } from './session-state.mjs'
import { cannotBeSent, tooLarge } from './refused-answer.mjs'

export class WorkerCall extends Call {
  #send
  #limit
  #questions
  #lastQuestion = 0
  #receivedState
  #state

  constructor(frame, definition, { send, limit }) {
    super()
    this.id = frame.call
    this.definition = definition
    this.#send = send
    this.#limit = limit
    this.name = definition.name
    if (frame.meta) this.meta = frame.meta
    if (frame.roots) this.roots = frame.roots
    this.rootsRefused = frame.rootsRefused
    this.hasUnaskedRoots = frame.askForRoots === true
    this.folder = frame.folder
    this.caller = frame.caller
    if (frame.groups) this.callerGroups = frame.groups
    if (frame.claims) this.callerClaims = frame.claims
    this.#receivedState = frame.state
    if (frame.trace) this.trace = frame.trace
    this.uri = frame.resource
    // Progress also extends the timeout of a tool that allows it.
    this.wantsProgress = frame.progress === true || definition.fields.progressExtendsTimeout === true
    this.canElicit = frame.elicit === true
    this.canAsk = frame.ask === true || frame.elicit === true
  }

  get state() {
    return (this.#state ??= new SessionState(this.#receivedState)).values
  }

  /** Sends what the call has changed in the state of the session. Throws if it cannot be kept. */
  sendState() {
    const changes = this.open ? this.#state?.changes() : undefined
    if (changes !== undefined) this.#send(`{"call":${this.id},"method":"session/state","params":${changes}}`)
  }

  notify(method, params) {
    if (!this.open) {
      // Messages of work that a call left behind go only to the operator.
      outsideOfCalls().notify(method, params)
      return
    }
    const write = (params) => `{"call":${this.id},"method":"${method}","params":${stringify(params)}}`
    this.#send(fittingNotification(method, params, this.#limit, write))
  }

  question(body, signal) {
    if (!this.open) return Promise.reject(new CannotAsk('the call has ended: nobody can be asked'))
    const number = (this.#lastQuestion += 1)
    const frame = stringify({ call: this.id, ask: number, ...body })
    const problem = bytesOver(this.#limit, frame) ? 'is too long' : misfit(frame)
    if (problem) return Promise.reject(new CannotAsk(`the question cannot be sent: it ${problem}`))
    this.#questions ??= new Map()
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        if (!this.#questions.delete(number)) return
        if (this.open) this.#send(`{"call":${this.id},"withdraw":${number}}`)
        reject(signal.reason)
      }
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      signal?.addEventListener('abort', withdraw, { once: true })
      const done = () => signal?.removeEventListener('abort', withdraw)
      this.#questions.set(number, { resolve, reject, done })
      this.#send(frame)
    })
  }

  answered({ answer, result, error }) {
    const question = this.#questions?.get(answer)
    if (!question) return
    this.#questions.delete(answer)
    question.done()
    if (error) question.reject(new CannotAsk(error.message ?? 'no answer came'))
    else question.resolve(result ?? {})
  }

  cancel(why) {
    super.cancel(why)
    this.#rejectQuestions(this.cancelled)
  }

  /** Ends the call with its final frame. */
  end(member, json) {
    if (!this.open) return
    this.flushPrinted()
    const frame = `{"call":${this.id},"${member}":${json}}`
    const refusal = this.#refusal(frame, json)
    this.#send(refusal === undefined ? frame : `{"call":${this.id},${refusal}}`)
    this.open = false
    if (this.#questions?.size > 0) this.#rejectQuestions(new CannotAsk('the call has ended: nobody can be asked'))
  }

  #refusal(frame, json) {
    const bytes = bytesOver(this.#limit, frame)
    if (bytes !== undefined) return tooLarge(this, json, bytes, this.#limit)
    const problem = misfit(frame)
    return problem === undefined ? undefined : cannotBeSent(this, problem)
  }

  #rejectQuestions(why) {
    for (const { reject, done } of this.#questions?.values() ?? []) {
      done()
      reject(why)
    }
    this.#questions?.clear()
  }
}
