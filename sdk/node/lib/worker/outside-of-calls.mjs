// The substitute for a call outside calls: while the file is loaded, for kept state, and for work that an
// ended call left behind.

import { Call } from '../current-call.mjs'
import { CannotAsk } from '../errors.mjs'
import { stringify } from '../json.mjs'
import { fittingNotification } from './fitting-notification.mjs'

export class OutsideOfCalls extends Call {
  name = 'worker'
  cannotAsk = 'no call is being served here, or it has ended: nobody can be asked'
  #channel

  /** From now on messages go to the server; before, only to standard error. */
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
