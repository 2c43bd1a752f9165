// Finds the function argument of a `tool(…)` call, and makes schemas from the types in its signature or its
// JSDoc.

import { readFileSync } from 'node:fs'
import { commentText, parseComment, parseParameter, takeType } from './comments.mjs'
import { Declarations } from './declarations.mjs'
import { TypeReader, UnreadableType } from './type-reader.mjs'
import { behindBracket, lineOf, stringValue, tokensOf } from './tokens.mjs'

// Return types without structured content.
const SHAPELESS = new Set(
  `void undefined any unknown never object * Buffer Uint8Array ArrayBuffer Content Result CallToolResult GetPromptResult
  ReadResourceResult PromptMessage`.split(/\s+/),
)

const files = new Map()

/**
 * The source's information about the function of the `tool(…)` call at a place: { description, input, output,
 * unreadOutput }.
 */
export function readFunction(place) {
  const file = fileAt(place.file)
  try {
    return new FunctionFinder(file, place).read()
  } catch (error) {
    if (!(error instanceof UnreadableType)) throw error
    throw new UnreadableFunction(error.message, lineOf(file.source, error.offset))
  }
}

/** A signature that cannot be read, with the line of the type. */
export class UnreadableFunction extends Error {
  constructor(message, line) {
    super(message)
    this.line = line
  }
}

/** Frees the parsed files, once all definitions are known. */
export function forgetSources() {
  files.clear()
}

/** A file is parsed once for all of its functions. */
function fileAt(path) {
  if (!files.has(path)) {
    const source = readFileSync(path, 'utf8')
    const tokens = tokensOf(source)
    files.set(path, { source, tokens, names: new Declarations(source, tokens) })
  }
  return files.get(path)
}

class FunctionFinder {
  #source
  #tokens
  #names
  #call

  constructor({ source, tokens, names }, { line, column }) {
    this.#source = source
    this.#tokens = tokens
    this.#names = names
    this.#call = this.#tokenAt(line, column)
  }

  read() {
    const found = this.#handler()
    const comments = [
      this.#commentBefore(this.#statementStart(this.#call)),
      found && this.#commentBefore(this.#statementStart(found.start)),
    ]
    const doc = parseComment(comments.find((text) => text !== undefined) ?? '')
    const read = { description: doc.description === '' ? undefined : doc.description }
    if (!found) return read
    read.input = this.#input(found, doc)
    Object.assign(read, this.#output(found, doc))
    return read
  }

  #tokenAt(line, column) {
    let start = 0
    for (let number = 1; number < line; number += 1) start = this.#source.indexOf('\n', start) + 1
    const index = this.#tokens.findIndex(({ end }) => end > start + column - 1)
    return index === -1 ? this.#tokens.length - 1 : index
  }

  /** The function among the arguments: an expression there, or a name as the last argument. */
  #handler() {
    let open = this.#call
    while (open < this.#tokens.length && this.#tokens[open].text !== '(') open += 1
    const end = behindBracket(this.#tokens, open) - 1
    let last = open + 1
    for (let at = open + 1; at < end; at += 1) {
      const { kind, text } = this.#tokens[at]
      // Commas after its start may belong to its return type.
      if (at === last && this.#beginsFunction(at)) return this.#functionAt(at)
      if (kind !== 'mark') continue
      if (text === ',' && at + 1 < end) last = at + 1
      else if ('([{'.includes(text)) at = behindBracket(this.#tokens, at) - 1
    }
    return this.#tokens[last].kind === 'name' ? this.#declared(this.#tokens[last].text) : undefined
  }

  #beginsFunction(index) {
    const { kind, text } = this.#tokens[index]
    if (text === 'function' || text === 'async') return true
    const behind = text === '(' ? behindBracket(this.#tokens, index) : index + 1
    const next = this.#tokens[behind].text
    return next === '=>' ? kind === 'name' || text === '(' : text === '(' && next === ':'
  }

  #declared(name) {
    for (let at = 0; at < this.#tokens.length - 2; at += 1) {
      const [word, next, third] = this.#tokens.slice(at, at + 3)
      if (word.kind !== 'name' || next.text !== name) continue
      if (word.text === 'function')
        return this.#functionAt(this.#tokens[at - 1]?.text === 'async' ? at - 1 : at)
      if (['const', 'let', 'var'].includes(word.text) && third.text === '=') return this.#functionAt(at + 3)
    }
    return undefined
  }

  /** A function expression: the positions of its parameters and its return type. */
  #functionAt(start) {
    let at = start
    if (this.#tokens[at].text === 'async') at += 1
    if (this.#tokens[at].text === 'function') {
      at += 1
      while (this.#tokens[at].text === '*' || this.#tokens[at].kind === 'name') at += 1
    }
    if (this.#tokens[at].text !== '(')
      return { start, parameter: this.#tokens[at].kind === 'name' ? at : undefined }
    const behind = behindBracket(this.#tokens, at)
    const isEmpty = behind === at + 2
    return {
      start,
      parameter: isEmpty ? undefined : at + 1,
      returns: this.#tokens[behind].text === ':' ? behind + 1 : undefined,
    }
  }

  #input({ parameter }, doc) {
    const parameters = doc.tags
      .filter(({ name }) => name === 'param' || name === 'arg')
      .map(({ body }) => parseParameter(body))
    if (parameter === undefined) return emptyObject()
    const { schema, defaults } = this.#parameter(parameter)
    const read = schema ?? this.#fromComment(parameters)
    if (!read) return undefined
    const whole = this.#names.whole(read)
    if (whole.type !== 'object')
      throw new UnreadableType(
        this.#tokens[parameter].text,
        'arguments are an object',
        this.#tokens[parameter].start,
      )
    return described(whole, parameters, defaults)
  }

  /** The annotation of the first parameter, and the defaults of its members. */
  #parameter(index) {
    const isPattern = this.#tokens[index].text === '{'
    const behind = isPattern ? behindBracket(this.#tokens, index) : index + 1
    const defaults = isPattern ? this.#defaults(index, behind - 1) : {}
    const annotation = this.#tokens[behind].text === '?' ? behind + 1 : behind
    if (this.#tokens[annotation].text !== ':') return { schema: undefined, defaults }
    return { schema: this.#readAt(annotation + 1).schema, defaults }
  }

  #readAt(index) {
    const reader = new TypeReader(this.#source, this.#tokens, index, this.#names)
    return { ...reader.read(), end: reader.index }
  }

  /** `{ a, b = 3, c: renamed = 'x' }`: literals are known. */
  #defaults(open, close) {
    const defaults = {}
    let name
    for (let at = open + 1; at < close; at += 1) {
      const { kind, text } = this.#tokens[at]
      if (kind === 'mark' && '([{'.includes(text)) at = behindBracket(this.#tokens, at) - 1
      else if (text === ',') name = undefined
      else if (name === undefined) name = kind === 'string' ? stringValue(this.#tokens[at]) : text
      else if (text === '=') {
        const value = literalAt(this.#tokens, at + 1)
        if (value !== undefined) defaults[name] = value
      }
    }
    return defaults
  }

  /** The arguments from @param: the first one with its type, or its members as `args.a`. */
  #fromComment(parameters) {
    const [first] = parameters
    if (!first) return undefined
    const members = parameters.filter(({ name }) => name.startsWith(`${first.name}.`))
    if (members.length > 0)
      return this.#names.objectOf(
        members.map((member) => ({ ...member, name: member.name.slice(first.name.length + 1) })),
      )
    return first.type === undefined ? undefined : this.#readComment(first.type)
  }

  #readComment(type) {
    try {
      return this.#names.readText(type).schema
    } catch (error) {
      // Offsets in a comment's type are not offsets in the file; its call is the nearest known place.
      if (error instanceof UnreadableType) error.offset = this.#tokens[this.#call].start
      throw error
    }
  }

  /** A return type that cannot be read does not prevent the tool, but its author gets a message. */
  #output({ returns }, doc) {
    const tag = doc.tags.find(({ name }) => name === 'returns' || name === 'return')
    const written = returns === undefined ? tag && takeType(tag.body).type : this.#typeText(returns)
    if (written === undefined || isShapeless(written)) return {}
    try {
      const { schema } = returns === undefined ? this.#names.readText(written) : this.#readAt(returns)
      return { output: opened(this.#names.whole(schema)) }
    } catch (error) {
      if (error instanceof UnreadableType) return { unreadOutput: error.message }
      throw error
    }
  }

  /** A return type in the source: up to the arrow or the body. */
  #typeText(index) {
    let at = index
    while (this.#tokens[at].kind !== 'end' && this.#tokens[at].text !== '=>') {
      if (
        this.#tokens[at].text === '{' &&
        at > index &&
        !['|', '&', '<', ','].includes(this.#tokens[at - 1].text)
      )
        break
      at =
        '([{'.includes(this.#tokens[at].text) && this.#tokens[at].kind === 'mark'
          ? behindBracket(this.#tokens, at)
          : at + 1
    }
    return this.#source.slice(this.#tokens[index].start, this.#tokens[at - 1].end)
  }

  /** The first token of the statement that an expression belongs to: `export const add = tool(…)` begins with export. */
  #statementStart(index) {
    let at = index
    const before = () => this.#tokens[at - 1]?.text
    while (before() === '.' || (before() === 'async' && this.#tokens[at].text !== 'export'))
      at -= before() === '.' ? 2 : 1
    if (before() === '=' && ['const', 'let', 'var'].includes(this.#tokens[at - 3]?.text)) at -= 3
    if (before() === ':' && this.#tokens[at - 2]) at -= 2
    while (['export', 'default', 'async'].includes(before())) at -= 1
    return at
  }

  #commentBefore(index) {
    const comment = this.#tokens[index].comments.filter(({ text }) => text.startsWith('/**')).at(-1)
    return comment && commentText(comment.text)
  }
}

/** A result schema: results may have members besides those of their type. */
function opened(schema) {
  if (Array.isArray(schema)) return schema.map(opened)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).filter(
    ([key, value]) => key !== 'additionalProperties' || value !== false,
  )
  return Object.fromEntries(members.map(([key, value]) => [key, opened(value)]))
}

function isShapeless(type) {
  const [, bare] = /^(?:Promise<)?(.*?)(?:\[\])*>?$/.exec(type.replace(/\s/g, ''))
  return SHAPELESS.has(bare)
}

function emptyObject() {
  return { type: 'object', properties: {}, additionalProperties: false }
}

/** A schema with the descriptions of `@param args.a …` and the defaults of the signature. */
function described(schema, parameters, defaults) {
  const properties = { ...schema.properties }
  let required = schema.required ?? []
  const prefix = `${parameters[0]?.name}.`
  for (const { name, description } of parameters) {
    const member = name.startsWith(prefix) ? name.slice(prefix.length) : undefined
    if (member && properties[member] && description)
      properties[member] = { ...properties[member], description }
  }
  for (const [name, value] of Object.entries(defaults)) {
    if (!properties[name]) continue
    if (properties[name].default === undefined) properties[name] = { ...properties[name], default: value }
    required = required.filter((one) => one !== name)
  }
  const { required: _, ...rest } = schema
  const whole = { ...rest, properties }
  return required.length > 0 ? { ...whole, required } : whole
}

/** The value of a literal that ends at a comma or the closing brace; undefined for anything else. */
function literalAt(tokens, index) {
  const negative = tokens[index].text === '-'
  const token = tokens[negative ? index + 1 : index]
  if (![',', '}'].includes(tokens[negative ? index + 2 : index + 1].text)) return undefined
  if (token.kind === 'string') return stringValue(token)
  if (token.kind === 'number') return (negative ? -1 : 1) * Number(token.text.replaceAll('_', ''))
  return { true: true, false: false }[token.text]
}
