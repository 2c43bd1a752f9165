// Stands for the call where there is none: while the file is loaded, for what a worker keeps, and for what an ended call has left.

import { Call } from '../current-call.mjs'
import { CannotAsk } from '../errors.mjs'
import { stringify } from '../json.mjs'
import { fittingNotification } from './fitting-notification.mjs'

export class OutsideOfCalls extends Call {
  name = 'worker'
  cannotAsk = 'no call is being served here, or it has ended: nobody can be asked'
  #channel

  /** From now on the server can be told; before, only standard error can. */
  sendWith(channel) {
    this.#channel = channel
  }

  notify(method, params) {
    if (method !== 'notifications/message') return
    if (this.#channel) {
      const write = (params) => stringify({ method, params })
      this.#channel.send(fittingNotification(method, params, this.#channel.limit, write))
    } else
      process.stderr.write(
        `${params.level}: ${typeof params.data === 'string' ? params.data : stringify(params.data)}\n`,
      )
  }

  question() {
    return Promise.reject(new CannotAsk(this.cannotAsk))
  }

  tell(level, data) {
    this.notify('notifications/message', { level, logger: this.name, data })
  }
}
