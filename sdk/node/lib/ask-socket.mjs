// The question of a plain script, through the socket that the server names. Loaded only by scripts that ask.

import { connect } from 'node:net'
import { CannotAsk } from './errors.mjs'
import { parse, stringify } from './json.mjs'

/**
 * One connection is one question, and one line is its answer. Disconnecting withdraws it, as each of the
 * signals does.
 */
export function askThroughSocket(body, signals) {
  const socket = connect(process.env.MCP_ASK_SOCKET)
  return new Promise((resolve, reject) => {
    for (const signal of signals) {
      const withdraw = () => reject(signal.reason)
      if (signal.aborted) withdraw()
      else signal.addEventListener('abort', withdraw, { once: true })
    }
    let text = ''
    socket.setEncoding('utf8')
    socket.write(`${process.env.MCP_ASK_KEY}\n${stringify(body)}\n`)
    socket.on('data', (piece) => {
      text += piece
      if (text.endsWith('\n')) settle(text, resolve, reject)
    })
    socket.on('error', (error) => reject(new CannotAsk(error.message)))
    socket.on('close', () => settle(text, resolve, reject))
  }).finally(() => socket.destroy())
}

function settle(text, resolve, reject) {
  const { result, error } = parsed(text)
  if (result !== undefined) resolve(result)
  else reject(new CannotAsk(error?.message ?? 'no answer came'))
}

function parsed(text) {
  try {
    return parse(text)
  } catch {
    return {}
  }
}
