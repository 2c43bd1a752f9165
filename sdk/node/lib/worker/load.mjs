// Loads a function file by importing it, which runs no handler, and returns its definitions.

import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keepsState } from '../keep.mjs'
import { definitionOf, noted, outputFields } from '../definitions.mjs'
import { placesOf, reason, shown, wholeTrace } from '../failures.mjs'
import { validatorOf } from '../schema.mjs'
import { textArguments } from '../text-arguments.mjs'
import { registerSdk } from './imports.mjs'

/** A function file that cannot be served, with the reason in one line. */
export class LoadFailure extends Error {
  constructor(message, trace) {
    super(message)
    this.trace = trace
  }
}

/** The definitions of a file by kind and name, the options of its workers, and the frame that reports them. */
export async function loadFunctionFile(file) {
  const loadedFiles = registerSdk(process.env.MCPBASH_PROJECT_ROOT)
  const module = await importFile(file, () => ownFiles(loadedFiles(), file))
  const definitions = namedDefinitions(module, file)
  // Only sources with types or comments need it.
  const reader = definitions.some(lacksFields) ? await import('../types/function-types.mjs') : undefined
  for (const definition of definitions) {
    if (lacksFields(definition)) complete(definition, reader)
    if (definition.kind === 'prompt') checkTexts(definition)
  }
  reader?.forgetSources()
  const { options, instructions } = noted()
  // Several processes would each keep their own.
  if (keepsState()) options.processes ??= 1
  const ready = {
    protocol: 1,
    ...describe(definitions),
    worker: options,
    files: ownFiles(loadedFiles(), file),
  }
  if (keepsState() && options.processes > 1) ready.splitState = 'state (`keep()`)'
  if (instructions !== undefined) ready.instructions = instructions
  return { find: finder(definitions), options, ready }
}

async function importFile(file, otherFiles) {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    throw new LoadFailure(await loadProblem(error, file, otherFiles), wholeTrace(error))
  }
}

/** One line: the error, its place, and the fix if it is known. */
async function loadProblem(error, file, otherFiles) {
  const [found] = placesOf(error)
  const place = shown(
    found ??
      (error instanceof SyntaxError ? await placeOfSyntaxError([file, ...otherFiles()]) : undefined) ?? {
        file,
        line: 1,
      },
  )
  if (!(error instanceof Error)) return `${place}: the file threw ${String(error)} while it was loaded`
  if (
    error.code === 'ERR_UNKNOWN_FILE_EXTENSION' &&
    /\.m?ts$/.test(error.message.match(/for (\S+)/)?.[1] ?? '')
  ) {
    return `${shown({ file, line: 1 })}: TypeScript needs node 22.18 or newer, and this is ${process.version}; write it as .mjs otherwise`
  }
  if (error.code === 'ERR_REQUIRE_ESM') {
    return `${place}: node ${process.version} cannot require() an ES module; write \`import { tool } from 'mcp-bash'\` in a .mjs file, or use node 20.19 or newer`
  }
  if (error instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(error.message)) {
    return `${place}: ${error.message}: call the file .mjs, or put "type": "module" into package.json`
  }
  if (/^(require|exports|module) is not defined in ES module scope/.test(error.message)) {
    return `${place}: this file is an ES module, which has no require() and no exports; write \`import { tool } from 'mcp-bash'\` and \`export const NAME = tool(…)\``
  }
  const missing = /^Cannot find (?:package|module) '([^'./][^']*)'/.exec(error.message)?.[1]
  const remedy = missing
    ? `; install it with: npm install ${missing
        .split('/')
        .slice(0, missing[0] === '@' ? 2 : 1)
        .join('/')}`
    : ''
  return `${place}: ${error.name}: ${error.message}${reason(error)}${remedy}`.replace(/\s*\n\s*/g, ' ')
}

async function placeOfSyntaxError(files) {
  const { syntaxErrorIn } = await import('./syntax-check.mjs')
  return syntaxErrorIn(files)
}

/** The exports of a module, each with its name: from its options, the export, or its function. */
function namedDefinitions(module, file) {
  const found = new Map()
  const add = (value, exported) => {
    const definition = definitionOf(value)
    if (!definition || found.has(definition)) return
    const name = definition.fields.name ?? exported ?? (definition.function.name || undefined)
    if (name === undefined)
      throw new LoadFailure(
        `${shown(definition.place)}: this ${definition.kind} has no name; give it one: ${definition.kind}({ name: '…' }, …)`,
      )
    if (definition.problem !== undefined)
      throw new LoadFailure(`${shown(definition.place)}: ${definition.kind} '${name}': ${definition.problem}`)
    definition.name = name
    found.set(definition, name)
  }
  for (const [name, value] of Object.entries(module)) if (name !== 'default') add(value, name)
  const { default: main } = module
  add(main)
  if (Array.isArray(main)) for (const value of main) add(value)
  else if (typeof main === 'object' && main !== null)
    for (const [name, value] of Object.entries(main)) add(value, name)
  refuseForgotten(found, file)
  refuseDoubles(found)
  // The exports of a module are sorted by name; definition order is more familiar.
  const { made } = noted()
  return [...found.keys()].sort((one, other) => made.indexOf(one) - made.indexOf(other))
}

/** An unreachable definition is an error: probably `export` is missing. */
function refuseForgotten(found, file) {
  const forgotten = noted().made.find(
    (definition) => !found.has(definition) && definition.place?.file === file,
  )
  if (!forgotten) return
  throw new LoadFailure(
    `${shown(forgotten.place)}: this ${forgotten.kind} is not exported: write \`export const NAME = ${forgotten.kind}(…)\``,
  )
}

function refuseDoubles(found) {
  const places = new Map()
  for (const [definition, name] of found) {
    const key = `${definition.kind} '${name}'`
    if (places.has(key))
      throw new LoadFailure(
        `${shown(definition.place)}: there are two of ${key}; the other is at ${places.get(key)}`,
      )
    places.set(key, shown(definition.place))
  }
}

function lacksInput({ kind, fields }) {
  return kind !== 'resource' && fields.inputSchema === undefined
}

function lacksFields(definition) {
  return lacksInput(definition) || definition.fields.description === undefined
}

/** Adds information from the source that the definition lacks. */
function complete(definition, reader) {
  const { kind, fields } = definition
  const needsInput = lacksInput(definition)
  const read = readSource(definition, needsInput, reader)
  fields.description ??= read.description
  if (!needsInput) return
  fields.inputSchema = read.input
  if (kind !== 'tool' || fields.output !== undefined) return
  if (read.output) Object.assign(fields, outputFields(read.output))
  if (read.unreadOutput)
    process.stderr.write(
      `${shown(definition.place)}: no output schema for '${definition.name}': ${read.unreadOutput}\n`,
    )
}

/** The server checks the arguments of tools against their schema, but those of prompts only against their names. */
function checkTexts(definition) {
  const { name, fields } = definition
  definition.check = textArguments(name, fields.inputSchema, validatorOf(fields.input) !== undefined)
}

function readSource({ kind, name, function: handler, place }, needsInput, { readFunction, UnreadableFunction }) {
  let read = {}
  let problem = 'its source is not known'
  try {
    if (place) read = readFunction(place)
    problem = 'its parameter has no type'
  } catch (error) {
    problem = error.message
    if (error instanceof UnreadableFunction) place = { ...place, line: error.line }
  }
  if (!needsInput || read.input) return read
  if (ignoresArguments(handler))
    return { ...read, input: { type: 'object', properties: {}, additionalProperties: false } }
  throw new LoadFailure(
    `${shown(place) ?? name}: the arguments of '${name}' are not known: ${problem}; give a schema: ${kind}('…', { a: 'string' }, …)`,
  )
}

/** Whether a handler has no parameter for arguments, or one whose name marks it as unused. */
function ignoresArguments(handler) {
  return /^(?:async\s*)?(?:function\b[^(]*)?\(?\s*(?:\)|_\w*\s*(?:[,)]|=>))/.test(handler.toString())
}

function describe(definitions) {
  const of = (kind, wanted = () => true) => definitions.filter((one) => one.kind === kind && wanted(one))
  return {
    tools: of('tool').map(toolFrame),
    resources: of('resource', (one) => !isTemplate(one)).map((one) => resourceFrame(one, 'uri')),
    templates: of('resource', isTemplate).map((one) => resourceFrame(one, 'uriTemplate')),
    prompts: of('prompt').map(promptFrame),
  }
}

function isTemplate({ fields }) {
  return fields.uri.includes('{')
}

function toolFrame({ name, fields }) {
  const { input, output, outputKind, meta, requires, task, ...rest } = fields
  const execution = task === undefined ? undefined : { taskSupport: task }
  return { ...rest, name, _meta: meta, requiredCapabilities: requires, execution }
}

function resourceFrame({ name, fields }, key) {
  const { uri, meta, ...rest } = fields
  return { [key]: uri, ...rest, name, _meta: meta }
}

function promptFrame({ name, fields }) {
  const { input, inputSchema, meta, requires, ...rest } = fields
  const needed = inputSchema.required ?? []
  const parameters = Object.entries(inputSchema.properties ?? {}).map(([key, { description, enum: values, default: otherwise }]) => ({
    name: key,
    description,
    required: needed.includes(key),
    // Possible values are offered for completion.
    enum: values,
    default: otherwise,
  }))
  return { ...rest, name, arguments: parameters, _meta: meta, requiredCapabilities: requires }
}

/** Files of the project besides the function file itself. Packages change by installation, not by editing. */
function ownFiles(files, file) {
  const { MCPBASH_PROJECT_ROOT: root = process.cwd() } = process.env
  const foreign = new RegExp(`\\${sep}(node_modules|\\.venv)\\${sep}`)
  return files.filter(
    (path) => path !== file && path.startsWith(root + sep) && !foreign.test(path.slice(root.length)),
  )
}

/** Finds the definition for a frame: { tool }, { resource, name } or { prompt }. */
function finder(definitions) {
  const byKind = { tool: new Map(), resource: new Map(), prompt: new Map() }
  for (const definition of definitions) byKind[definition.kind].set(definition.name, definition)
  return (frame) => {
    if (frame.tool !== undefined) return byKind.tool.get(frame.tool)
    if (frame.prompt !== undefined) return byKind.prompt.get(frame.prompt)
    return byKind.resource.get(frame.name) ?? definitions.find(({ fields }) => fields.uri === frame.resource)
  }
}
