// The definitions of a function file. `tool`, `resource` and `prompt` record a definition and return a
// function that can be called directly, for example in tests. Nothing runs here.

import { inspect } from 'node:util'
import { ToolError } from './errors.mjs'
import { placesOf } from './failures.mjs'
import { UndescribedSchema, objectSchema, validatorOf, valueSchema } from './schema.mjs'

// Shared by all copies of this SDK in a process.
const DEFINITION = Symbol.for('mcp-bash.definition')

const SHARED_OPTIONS = ['name', 'title', 'description', 'icons', 'meta', 'sandbox', 'secrets']
const OPTIONS = {
  tool: [
    ...SHARED_OPTIONS,
    'input',
    'output',
    'annotations',
    'timeoutSecs',
    'progressExtendsTimeout',
    'maxTimeoutSecs',
    'timeoutHint',
    'requires',
    'confirm',
    'scopes',
    'task',
  ],
  resource: [...SHARED_OPTIONS, 'mimeType', 'annotations', 'size'],
  prompt: [...SHARED_OPTIONS, 'input', 'requires'],
  worker: [
    'processes',
    'atOnce',
    'idleSecs',
    'maxCalls',
    'memoryMb',
    'startAhead',
    'keepsProcesses',
    'env',
    'sandbox',
    'secrets',
  ],
}
const SANDBOX_KEYS = [
  'mode',
  'read',
  'write',
  'network',
  'memory',
  'cpuSecs',
  'processes',
  'openFiles',
  'fileSize',
]

// Their code would run only after the call has ended, if at all.
const GENERATORS = new Set(['[object GeneratorFunction]', '[object AsyncGeneratorFunction]'])

const made = []
const options = {}
let instructionsText

/** A tool, resource or prompt as its author defined it. */
export class Definition {
  constructor(kind, fields, handler) {
    this.kind = kind
    this.fields = fields
    /** The function of a call: the author's, or an argument check before it. */
    this.handler = handler
    this.function = handler
    // The place of the definition: its types may be read there, and messages name it.
    this.place = placesOf(new Error())[0]
    /** Why it cannot be served, reported once its name is known. */
    this.problem = undefined
  }
}

/**
 * tool(handler), tool(description, handler), tool(description, input, handler) or tool(options, handler). Without `input`
 * the arguments are read from the types of the handler.
 */
export function tool(...parameters) {
  const handler = lastFunction('tool', parameters)
  const fields = withInput('tool', parameters)
  return define('tool', fields, handler)
}

/** resource(uri, handler), resource(uri, description, handler) or resource(uri, options, handler). A URI with {…} is a template. */
export function resource(uri, ...parameters) {
  const handler = lastFunction('resource', parameters)
  if (typeof uri !== 'string')
    throw new TypeError(`resource() begins with a URI or a template of one, not ${inspect(uri)}`)
  const [first] = parameters
  const fields = typeof first === 'string' ? { description: first } : { ...first }
  refuseUnknown('resource', fields)
  return define('resource', { uri, ...fields }, handler)
}

/** prompt(description, handler), prompt(description, arguments, handler) or prompt(options, handler). */
export function prompt(...parameters) {
  const handler = lastFunction('prompt', parameters)
  return define('prompt', withInput('prompt', parameters), handler)
}

/**
 * Options of the workers of this file: { processes, atOnce, idleSecs, maxCalls, memoryMb, startAhead,
 * keepsProcesses, env, sandbox, secrets }.
 */
export function worker(more) {
  refuseUnknown('worker', more)
  Object.assign(options, more)
}

/** Instructions for the model about this server as a whole. */
export function instructions(text) {
  instructionsText = String(text)
}

/** Everything recorded so far: definitions in order, options, instructions. */
export function noted() {
  return { made, options, instructions: instructionsText }
}

/** The definition behind a value; undefined for any other value. */
export function definitionOf(value) {
  return typeof value === 'function' ? value[DEFINITION] : undefined
}

/** The result schema for clients, and how values fit it: it must be of type object, so other values are wrapped. */
export function outputFields(schema) {
  if (schema.type === 'object') return { outputSchema: schema, outputKind: 'object' }
  const { $defs, ...value } = schema
  const wrapped = { type: 'object', properties: { result: value }, required: ['result'] }
  return { outputSchema: $defs ? { ...wrapped, $defs } : wrapped, outputKind: 'wrapped' }
}

/** The options before a handler: none, a description, a description and arguments, or one object. */
function withInput(kind, [first, input]) {
  const isShort = typeof first === 'string' || first === undefined
  const fields = isShort ? { description: first, input } : { ...first }
  refuseUnknown(kind, fields)
  return fields
}

function refuseUnknown(kind, fields) {
  const unknown = Object.keys(fields).find((name) => !OPTIONS[kind].includes(name))
  if (unknown)
    throw new TypeError(`${kind}() knows no option \`${unknown}\`; there are ${OPTIONS[kind].join(', ')}`)
  refuseUnknownSandbox(kind, fields.sandbox)
}

/** The server checks the values. */
function refuseUnknownSandbox(kind, sandbox) {
  if (sandbox === undefined || typeof sandbox === 'string') return
  if (typeof sandbox !== 'object' || sandbox === null || Array.isArray(sandbox))
    throw new TypeError(
      `\`sandbox\` of ${kind}() is 'off', 'on', 'strict' or an object, not ${inspect(sandbox)}`,
    )
  const unknown = Object.keys(sandbox).find((key) => !SANDBOX_KEYS.includes(key))
  if (unknown !== undefined)
    throw new TypeError(
      `\`sandbox\` of ${kind}() knows no key \`${unknown}\`; there are ${SANDBOX_KEYS.join(', ')}`,
    )
}

function define(kind, fields, handler) {
  const definition = new Definition(kind, fields, handler)
  try {
    if (fields.input !== undefined) fields.inputSchema = objectSchema(fields.input)
    if (fields.output !== undefined) Object.assign(fields, outputFields(valueSchema(fields.output)))
  } catch (error) {
    if (!(error instanceof UndescribedSchema)) throw error
    definition.problem = error.message
  }
  const validate = validatorOf(fields.input)
  if (validate) definition.handler = validated(validate, handler)
  const callable = (...parameters) => definition.handler(...parameters)
  Object.defineProperty(callable, DEFINITION, { value: definition })
  Object.defineProperty(callable, 'name', { value: fields.name ?? handler.name })
  made.push(definition)
  return callable
}

/**
 * The server has checked the arguments against their JSON Schema; the library checks more, adds defaults and
 * converts.
 */
function validated(validate, handler) {
  return async (args, context) => {
    const { value, issues } = await validate(args)
    if (issues) {
      const message = `the arguments do not fit: ${issues.map(issueText).join('; ')}`
      throw new ToolError(message, { type: 'invalid_argument' })
    }
    return handler(value, context)
  }
}

function issueText({ message, path = [] }) {
  const place = path.map((part) => part?.key ?? part).join('.')
  return place === '' ? message : `${place}: ${message}`
}

function lastFunction(kind, parameters) {
  const handler = parameters.pop()
  if (GENERATORS.has(Object.prototype.toString.call(handler)))
    throw new TypeError(
      `a generator cannot be a ${kind}; return the whole result, and call progress() on the way`,
    )
  if (typeof handler === 'function' && definitionOf(handler) === undefined) return handler
  throw new TypeError(`${kind}() ends with the function that does the work, not ${inspect(handler)}`)
}
