// The errors that people throw and catch.

function named(kind, name) {
  Object.defineProperty(kind.prototype, 'name', { value: name, configurable: true, writable: true })
}

/** A failure that the model is told in the author's words. Details may have a `type`, a `hint` and whatever else. */
export class ToolError extends Error {
  constructor(message, details) {
    super(message)
    this.details = details
  }
}

/** A JSON-RPC error, for requests that make no sense. What a model can mend is better told with ToolError. */
export class RpcError extends Error {
  constructor(code, message, data) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The user has said no to a question. */
export class Declined extends Error {}

/** The user has closed a question without an answer, or the client has given up on the whole call. */
export class Cancelled extends Error {}

/** Nobody can be asked: the client does not offer it, or no answer came in time. */
export class CannotAsk extends Error {}

named(ToolError, 'ToolError')
named(RpcError, 'RpcError')
named(Declined, 'Declined')
named(Cancelled, 'Cancelled')
named(CannotAsk, 'CannotAsk')
