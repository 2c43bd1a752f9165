// Stands for the call where there is none: while the file is loaded, and for what a worker keeps.

import { Call } from '../current-call.mjs'
import { CannotAsk } from '../errors.mjs'
import { stringify } from '../json.mjs'
import { shortNotification } from '../short-notification.mjs'

export class OutsideOfCalls extends Call {
  name = 'worker'
  #channel

  /** From now on the server can be told; before, only standard error can. */
  sendWith(channel) {
    this.#channel = channel
  }

  notify(method, params) {
    if (this.#channel) {
      const write = (params) => stringify({ method, params })
      this.#channel.send(shortNotification(method, params, this.#channel.limit, write))
    } else
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
