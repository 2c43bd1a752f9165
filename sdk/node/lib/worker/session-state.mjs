// The state of a client's session: JSON values by name. The server sends it with a call, and receives what the call has
// changed before its answer.

import { ToolError } from '../errors.mjs'
import { stringify } from '../json.mjs'
import { misfit } from './frame-limits.mjs'

// The server's limit for the state of one session, in bytes.
const LARGEST = 65536

export class SessionState {
  #before
  #values

  constructor(received) {
    if (received === undefined)
      throw new ToolError('This client has no session (its protocol has none), and so there is no state of one', {
        type: 'no_session',
      })
    this.#before = texts(received)
    this.#values = received
  }

  get values() {
    return this.#values
  }

  /** The JSON of the changes, or undefined. Throws if the state cannot be kept. */
  changes() {
    const after = texts(this.#values)
    const changed = Object.keys(after).filter((name) => after[name] !== this.#before[name])
    const deleted = Object.keys(this.#before).filter((name) => !Object.hasOwn(after, name))
    if (changed.length === 0 && deleted.length === 0) return undefined
    const member = (name) => `${JSON.stringify(name)}:${after[name]}`
    const size = Buffer.byteLength(`{${Object.keys(after).map(member).join(',')}}`)
    if (size > LARGEST)
      throw new ToolError(`The state of the session has ${size} bytes, and ${LARGEST} are allowed`, {
        hint: 'keep large values in files or in a database, and their names in the state',
      })
    const json = `{"set":{${changed.map(member).join(',')}},"delete":${JSON.stringify(deleted)}}`
    const problem = misfit(json)
    if (problem) throw new ToolError(`The state of the session cannot be kept: it ${problem}`)
    return json
  }
}

function texts(values) {
  const found = {}
  for (const [name, value] of Object.entries(values)) {
    const text = stringify(value)
    // As in JSON, a value that is undefined is left out.
    if (text !== undefined) found[name] = text
  }
  return found
}
