// The errors that function files throw and catch.

function named(kind, name) {
  Object.defineProperty(kind.prototype, 'name', { value: name, configurable: true, writable: true })
}

/** A failure with the author's message for the model. Details may have a `type`, a `hint` and data of any kind. */
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

/** A JSON-RPC error, for invalid requests. If the model can correct its call, use ToolError. */
export class ProtocolError extends Error {
  constructor(code, message, data) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The resource does not exist. */
export class NotFound extends ProtocolError {
  constructor(message = 'there is no such resource', data) {
    super(-32002, message, data)
  }
}

/** The user declined a question. */
export class Declined extends Error {
  type = 'declined'
}

/** The user closed a question without an answer, or the client cancelled the whole call. */
export class Cancelled extends Error {
  type = 'cancelled'
}

/** The client cannot ask, or no answer came in time. */
export class CannotAsk extends Error {
  type = 'cannot_ask'
}

named(ToolError, 'ToolError')
named(ProtocolError, 'ProtocolError')
named(NotFound, 'NotFound')
named(Declined, 'Declined')
named(Cancelled, 'Cancelled')
named(CannotAsk, 'CannotAsk')
