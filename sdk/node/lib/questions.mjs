// Questions to the user and to the client's model. Each waits for its answer and throws if there is none.

import { currentCall } from './current-call.mjs'
import { CannotAsk, Cancelled, Declined } from './errors.mjs'
import { asContent } from './content.mjs'
import { objectSchema } from './schema.mjs'

/** Asks for several fields and returns the user's input. Fields are in the short form, or a JSON Schema. */
export function ask(message, fields, options) {
  return askOf(currentCall(), message, fields, options)
}

/** True only if the user said yes. */
export function confirm(message, options) {
  return confirmOf(currentCall(), message, options)
}

/** One of several: an array of values, or an object of titles by value. With `multiple`, an array of them. */
export function choose(message, choices, options) {
  return chooseOf(currentCall(), message, choices, options)
}

/** Sends the user to a web page, for data that must not pass through the client. */
export function askUrl(message, url, options) {
  return askUrlOf(currentCall(), message, url, options)
}

/** Asks the client's model. The result also has its whole text as `text`. */
export function sample(messages, options) {
  return sampleOf(currentCall(), messages, options)
}

/** Several questions at once, by name: { message, fields }, or { method, params } as in the protocol. */
export function askAll(questions, options) {
  return askAllOf(currentCall(), questions, options)
}

export async function askOf(call, message, fields = {}, options = {}) {
  return contentOf(await put(call, form(message, objectSchema(fields)), options), message)
}

export async function askUrlOf(call, message, url, options = {}) {
  const params = { mode: 'url', message: String(message), url: String(url) }
  contentOf(await put(call, { method: 'elicitation/create', params }, options), message)
}

export async function confirmOf(call, message, options = {}) {
  try {
    return (await askOf(call, message, { confirmed: 'boolean' }, options)).confirmed === true
  } catch (error) {
    if (error instanceof Declined) return false
    throw error
  }
}

export async function chooseOf(call, message, choices, options = {}) {
  const schema = choiceSchema(choices)
  if (!options.multiple) return (await askOf(call, message, { choice: schema }, options)).choice
  const { type, enum: values, oneOf } = schema
  const items = oneOf ? { anyOf: oneOf } : { type, enum: values }
  return (await askOf(call, message, { choices: { type: 'array', items } }, options)).choices ?? []
}

export async function sampleOf(call, messages, options = {}) {
  const { system, maxTokens = 1000, timeoutSecs, name, signal, ...others } = options
  const params = { messages: samplingMessages(messages), maxTokens, ...others }
  if (system !== undefined) params.systemPrompt = system
  const answer = await put(call, { method: 'sampling/createMessage', params }, { timeoutSecs, name, signal })
  const blocks = [answer.content].flat()
  const text = blocks.map((block) => (block?.type === 'text' ? block.text : '')).join('')
  return { ...answer, text }
}

export async function askAllOf(call, questions, options = {}) {
  const names = Object.keys(questions)
  if (names.length === 0) return {}
  const bodies = Object.fromEntries(names.map((name) => [name, asQuestion(questions[name])]))
  const replies = await put(call, { questions: bodies }, options)
  const answers = {}
  let failure
  for (const name of names) {
    try {
      answers[name] = answerOf(bodies[name], replies[name])
    } catch (error) {
      failure ??= Object.assign(error, { question: name })
    }
  }
  // The other answers are not lost with the missing one.
  if (failure) throw Object.assign(failure, { answers })
  return answers
}

function asQuestion(question) {
  if (typeof question === 'string') return form(question, objectSchema({ value: 'string' }))
  if (question.method !== undefined) return { method: question.method, params: question.params ?? {} }
  return form(question.message, objectSchema(question.fields ?? {}))
}

function answerOf(question, reply) {
  if (reply?.result === undefined) throw new CannotAsk(reply?.error?.message ?? 'no answer came')
  if (question.method !== 'elicitation/create') return reply.result
  return contentOf(reply.result, question.params.message)
}

function form(message, requestedSchema) {
  const { additionalProperties, ...schema } = requestedSchema
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message: String(message), requestedSchema: schema },
  }
}

function contentOf(answer, message) {
  if (answer.action === 'accept') return answer.content ?? {}
  if (answer.action === 'decline') throw new Declined(`the user declined: ${message}`)
  if (answer.action === 'cancel') throw new Cancelled(`the user closed the question: ${message}`)
  throw new CannotAsk(`no answer came: ${message}`)
}

/** Sends one question to the client, or refuses at once if that is known to be useless. */
async function put(call, body, { timeoutSecs, name, signal }) {
  if (call.cancelled) throw call.cancelled
  const elicits = body.method === 'elicitation/create'
  if (!call.canAsk || (elicits && !call.canElicit)) throw new CannotAsk(call.cannotAsk)
  if (timeoutSecs !== undefined) body.timeoutSecs = timeoutSecs
  if (name !== undefined) body.name = name
  return call.question(body, signal)
}

function choiceSchema(choices) {
  if (Array.isArray(choices)) return { type: 'string', enum: choices.map(String) }
  return {
    type: 'string',
    oneOf: Object.entries(choices).map(([value, title]) => ({ const: value, title: String(title) })),
  }
}

function samplingMessages(messages) {
  return [messages].flat().map((message) => {
    if (message?.role !== undefined && message.content !== undefined) return message
    return { role: 'user', content: asContent(message) }
  })
}
