// Stands for the call where there is none: while the file is loaded, and for what a worker keeps.

import { Call } from '../current-call.mjs'
import { CannotAsk } from '../errors.mjs'
import { stringify } from '../json.mjs'

export class OutsideOfCalls extends Call {
  name = 'worker'
  #send

  /** From now on the server can be told; before, only standard error can. */
  sendWith(send) {
    this.#send = send
  }

  notify(method, params) {
    if (this.#send) this.#send(stringify({ method, params }))
    else
      process.stderr.write(
        `${params.level}: ${typeof params.data === 'string' ? params.data : stringify(params.data)}\n`,
      )
  }

  question() {
    return Promise.reject(new CannotAsk('only a call can ask'))
  }

  tell(level, data) {
    this.notify('notifications/message', { level, logger: this.name, data })
  }
}
