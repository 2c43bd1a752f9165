// The errors that people throw and catch.

function named(kind, name) {
  Object.defineProperty(kind.prototype, 'name', { value: name, configurable: true, writable: true })
}

/** A failure that the model is told in the author's words. Details may have a `type`, a `hint` and data of any kind. */
export class ToolError extends Error {
  constructor(message, details = {}) {
    super(message)
    const {
      type = 'error',
      hint,
      ...data
    } = typeof details === 'object' && details !== null ? details : { details }
    this.type = type
    this.hint = hint
    this.data = data
  }
}

/** A JSON-RPC error, for requests that make no sense. What a model can mend is better told with ToolError. */
export class ProtocolError extends Error {
  constructor(code, message, data) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** There is no such resource. */
export class NotFound extends ProtocolError {
  constructor(message = 'there is no such resource', data) {
    super(-32002, message, data)
  }
}

/** The user has said no to a question. */
export class Declined extends Error {
  type = 'declined'
}

/** The user has closed a question without an answer, or the client has given up on the whole call. */
export class Cancelled extends Error {
  type = 'cancelled'
}

/** Nobody can be asked: the client does not offer it, or no answer came in time. */
export class CannotAsk extends Error {
  type = 'cannot_ask'
}

named(ToolError, 'ToolError')
named(ProtocolError, 'ProtocolError')
named(NotFound, 'NotFound')
named(Declined, 'Declined')
named(Cancelled, 'Cancelled')
named(CannotAsk, 'CannotAsk')
