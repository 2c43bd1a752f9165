// Parses a TypeScript or JSDoc type into a JSON Schema. It supports the types that JSON can express; anything
// else is refused.

import { behindBracket, stringValue } from './tokens.mjs'
import { commentText, parseComment } from './comments.mjs'

/** A type that cannot be read, and its place. */
export class UnreadableType extends Error {
  constructor(type, why, offset) {
    super(`the type \`${type}\` cannot be read${why ? `: ${why}` : ''}`)
    this.offset = offset
  }
}

// Represents `undefined` and `void`: an optional member.
const ABSENT = Object.freeze({})

const WORDS = {
  string: () => ({ type: 'string' }),
  number: () => ({ type: 'number' }),
  integer: () => ({ type: 'integer' }),
  boolean: () => ({ type: 'boolean' }),
  null: () => ({ type: 'null' }),
  object: () => ({ type: 'object' }),
  Object: () => ({ type: 'object' }),
  any: () => ({}),
  unknown: () => ({}),
  '*': () => ({}),
  true: () => ({ const: true }),
  false: () => ({ const: false }),
  undefined: () => ABSENT,
  void: () => ABSENT,
  Date: () => ({ type: 'string', format: 'date-time' }),
  URL: () => ({ type: 'string', format: 'uri' }),
}

const GENERICS = {
  Array: ([items]) => ({ type: 'array', items }),
  ReadonlyArray: ([items]) => ({ type: 'array', items }),
  Promise: ([value]) => value,
  Awaited: ([value]) => value,
  Readonly: ([object]) => object,
  NonNullable: ([value]) => value,
  Record: ([keys, value]) => record(keys, value),
  Object: ([keys, value]) => record(keys, value),
  Partial: ([object]) => ({ ...object, required: undefined }),
  Required: ([object]) => ({ ...object, required: Object.keys(object.properties ?? {}) }),
  Pick: ([object, keys]) => chosen(object, (name) => valuesOf(keys).includes(name)),
  Omit: ([object, keys]) => chosen(object, (name) => !valuesOf(keys).includes(name)),
}

export class TypeReader {
  #source
  #tokens
  #at
  #names

  /**
   * `names` are the declarations of the file: `read(name)` returns a schema or undefined, `whyNot(name)` the
   * reason.
   */
  constructor(source, tokens, index, names) {
    this.#source = source
    this.#tokens = tokens
    this.#at = index
    this.#names = names
  }

  /** The index of the first token after the parsed ones. */
  get index() {
    return this.#at
  }

  /** A schema, and whether the value is optional. */
  read() {
    const schema = this.#union()
    return {
      schema: schema === ABSENT ? {} : cleaned(schema),
      optional: schema === ABSENT || schema[OPTIONAL] === true,
    }
  }

  /** The members of an interface, whose brace is next, including those it extends. */
  readInterface() {
    const bases = []
    if (this.#take('extends')) {
      do bases.push(this.#postfix())
      while (this.#take(','))
    }
    return cleaned(merged([...bases, this.#object()]))
  }

  /** The values of an enum, whose brace is next. */
  readEnum() {
    this.#expect('{')
    const values = []
    while (!this.#take('}')) {
      const start = this.#token
      this.#at += 1
      if (this.#take('=')) {
        const value = this.#token
        this.#at += 1
        if (value.kind !== 'string' && value.kind !== 'number')
          throw this.#refused(start, 'an enum of other values than texts and numbers')
        values.push(value.kind === 'string' ? stringValue(value) : Number(value.text))
      } else
        values.push(
          typeof values[values.length - 1] === 'number' ? values[values.length - 1] + 1 : values.length,
        )
      this.#take(',')
    }
    return { enum: values }
  }

  get #token() {
    return this.#tokens[this.#at]
  }

  #is(text) {
    const { kind } = this.#token
    return this.#token.text === text && kind !== 'string' && kind !== 'template'
  }

  #take(text) {
    if (!this.#is(text)) return false
    this.#at += 1
    return true
  }

  #expect(text) {
    if (!this.#take(text)) throw this.#refused(this.#token, `\`${text}\` was expected here`)
  }

  #refused(from, why) {
    const last = this.#tokens[Math.max(this.#at - 1, this.#tokens.indexOf(from))]
    return new UnreadableType(this.#source.slice(from.start, Math.max(last.end, from.end)), why, from.start)
  }

  #union() {
    this.#take('|')
    const parts = [this.#intersection()]
    while (this.#take('|')) parts.push(this.#intersection())
    return parts.length === 1 ? parts[0] : united(parts)
  }

  #intersection() {
    this.#take('&')
    const start = this.#token
    const parts = [this.#postfix()]
    while (this.#take('&')) parts.push(this.#postfix())
    if (parts.length === 1) return parts[0]
    if (parts.some(({ type }) => type !== 'object'))
      throw this.#refused(start, 'only objects can be joined with &')
    return merged(parts)
  }

  #postfix() {
    // JSDoc: ?string may be null.
    if (this.#is('?')) {
      this.#at += 1
      return united([this.#postfix(), { type: 'null' }])
    }
    if (this.#take('readonly')) return this.#postfix()
    const start = this.#token
    let schema = this.#primary()
    while (this.#is('[')) {
      this.#at += 1
      if (!this.#take(']')) throw this.#refused(start, 'a type out of another one')
      schema = { type: 'array', items: cleaned(schema) }
    }
    // JSDoc: string= is optional.
    if (this.#is('=') && this.#tokens[this.#at + 1]?.kind === 'end') {
      this.#at += 1
      return { ...schema, [OPTIONAL]: true }
    }
    return schema
  }

  #primary() {
    const start = this.#token
    if (start.kind === 'string') {
      this.#at += 1
      return { const: stringValue(start) }
    }
    if (start.kind === 'number' || (this.#is('-') && this.#tokens[this.#at + 1].kind === 'number'))
      return this.#number()
    if (this.#is('{')) return this.#object()
    if (this.#is('[')) return this.#tuple()
    if (this.#is('(')) return this.#parenthesised()
    if (start.kind === 'name' || this.#is('*')) return this.#named()
    this.#at += 1
    throw this.#refused(start)
  }

  #number() {
    const sign = this.#take('-') ? -1 : 1
    const { text } = this.#token
    this.#at += 1
    return { const: sign * Number(text.replaceAll('_', '')) }
  }

  #parenthesised() {
    const start = this.#token
    const behind = behindBracket(this.#tokens, this.#at)
    if (this.#tokens[behind]?.text === '=>') {
      this.#at = behind
      throw this.#refused(start, 'JSON has no functions')
    }
    this.#at += 1
    const schema = this.#union()
    this.#expect(')')
    return schema
  }

  #tuple() {
    this.#expect('[')
    const items = []
    let required = 0
    while (!this.#take(']')) {
      const start = this.#token
      if (this.#is('...')) throw this.#refused(start, 'a tuple of any length')
      // The name before the type is ignored: [x: number, y?: number].
      const [, second, third] = this.#tokens.slice(this.#at, this.#at + 3)
      if (second.text === ':') this.#at += 2
      const named = second.text === '?' && third.text === ':'
      if (named) this.#at += 3
      items.push(cleaned(this.#union()))
      if (!this.#take('?') && !named) required = items.length
      this.#take(',')
    }
    return { type: 'array', prefixItems: items, minItems: required, maxItems: items.length }
  }

  #named() {
    const start = this.#token
    const name = start.text
    this.#at += 1
    if (name === 'typeof' || name === 'keyof' || name === 'unique' || name === 'infer') {
      this.#at += 1
      throw this.#refused(start, 'it needs a compiler')
    }
    // JSDoc: Array.<string> is Array<string>.
    if (this.#is('.') && this.#tokens[this.#at + 1].text === '<') this.#at += 1
    if (this.#is('<')) return this.#generic(start)
    if (Object.hasOwn(WORDS, name)) return WORDS[name]()
    if (name === 'Array') return { type: 'array' }
    const declared = this.#names.read(name)
    if (declared) return declared
    if (this.#is('.')) {
      this.#at += 2
      throw this.#refused(start, 'a type of another file')
    }
    throw this.#refused(start, this.#names.whyNot(name))
  }

  #generic(start) {
    this.#expect('<')
    const parts = []
    do parts.push(this.#union())
    while (this.#take(','))
    if (!this.#take('>')) throw this.#refused(start, 'its parameters')
    const make = Object.hasOwn(GENERICS, start.text) ? GENERICS[start.text] : undefined
    if (make) return make(parts.map((part) => (part === ABSENT ? part : cleaned(part))))
    throw this.#refused(start, this.#names.whyNot(start.text))
  }

  #object() {
    this.#expect('{')
    const properties = {}
    const required = []
    let others = false
    while (!this.#take('}')) {
      const start = this.#token
      if (start.kind === 'end') throw this.#refused(start, 'its end is missing')
      if (this.#tokens[this.#at + 1].text !== '?' && this.#tokens[this.#at + 1].text !== ':')
        this.#take('readonly')
      if (this.#is('[')) others = this.#indexSignature()
      else this.#member(properties, required)
      const separator = this.#token
      if (!this.#take(',')) this.#take(';')
      this.#describe(properties, start, separator)
    }
    const schema = { type: 'object', properties }
    if (required.length > 0) schema.required = required
    schema.additionalProperties = others
    return schema
  }

  /** `[key: string]: T`: any other member. */
  #indexSignature() {
    const start = this.#token
    this.#at = behindBracket(this.#tokens, this.#at)
    if (!this.#take(':')) throw this.#refused(start)
    const value = this.#union()
    return Object.keys(value).length === 0 ? true : cleaned(value)
  }

  #member(properties, required) {
    const start = this.#token
    this.#at += 1
    const name = start.kind === 'string' ? stringValue(start) : start.text
    const optional = this.#take('?')
    if (this.#is('(') || this.#is('<')) throw this.#refused(start, 'JSON has no functions')
    // Without a type, a member can be anything.
    const { schema, optional: absent } = this.#take(':') ? this.read() : { schema: {}, optional: false }
    properties[name] = schema
    if (!optional && !absent) required.push(name)
  }

  /** The comment before a member, or after it at the end of its line, describes it. */
  #describe(properties, start, separator) {
    const name = Object.keys(properties).at(-1)
    if (name === undefined) return
    const before = start.comments.filter((comment) => !this.#isBehind(comment, start)).at(-1)
    const behind =
      this.#token.comments.find((comment) => this.#isBehind(comment, this.#token)) ?? separator.comments[0]
    const comment = before ?? behind
    if (comment) properties[name] = { ...properties[name], ...parseComment(commentText(comment.text)).schema }
  }

  /** Whether a comment ends the line of the token before it, and so belongs there. */
  #isBehind(comment, next) {
    const lineStart = this.#source.lastIndexOf('\n', comment.start - 1) + 1
    const isFirst = this.#source.slice(lineStart, comment.start).trim() === ''
    return !isFirst && this.#source.slice(comment.end, next.start).includes('\n')
  }
}

// Marks a schema whose value is optional; never written, as JSON.stringify skips symbols.
const OPTIONAL = Symbol('optional')

function cleaned(schema) {
  if (!(OPTIONAL in schema) && !('required' in schema && schema.required === undefined)) return schema
  const { [OPTIONAL]: _, required, ...rest } = schema
  return required === undefined ? rest : { ...rest, required }
}

function united(parts) {
  const given = parts.filter((part) => part !== ABSENT)
  const optional = given.length < parts.length || given.some((part) => part[OPTIONAL])
  const schema = unitedSchema(given.map(cleaned))
  return optional ? { ...schema, [OPTIONAL]: true } : schema
}

function unitedSchema(parts) {
  if (parts.length === 1) return parts[0]
  if (parts.length === 0) return {}
  // true | false is boolean, among other things too.
  const hasBoth = [true, false].every((value) => parts.some((part) => part.const === value))
  const members = hasBoth
    ? [...parts.filter((part) => typeof part.const !== 'boolean'), { type: 'boolean' }]
    : parts
  if (members.length === 1) return members[0]
  const isValue = (part) =>
    (Object.keys(part).length === 1 && ('const' in part || 'enum' in part)) || part.type === 'null'
  if (members.every(isValue) && members.some(({ type }) => type !== 'null'))
    return choice(members.flatMap(valuesOf))
  const isSimple = (part) => Object.keys(part).length === 1 && typeof part.type === 'string'
  return members.every(isSimple) ? { type: members.map(({ type }) => type) } : { anyOf: members }
}

function choice(values) {
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)))
  return types.size === 1 ? { type: [...types][0], enum: values } : { enum: values }
}

/** The values of a union of literals. */
function valuesOf(schema) {
  if ('const' in schema) return [schema.const]
  return schema.type === 'null' ? [null] : (schema.enum ?? [])
}

function record(keys, value) {
  const names = valuesOf(keys)
  if (names.length === 0) return { type: 'object', additionalProperties: value }
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, value])),
    required: names,
    additionalProperties: false,
  }
}

function merged(parts) {
  const properties = Object.assign({}, ...parts.map((part) => part.properties))
  const required = [...new Set(parts.flatMap((part) => part.required ?? []))]
  const schema = { type: 'object', properties }
  if (required.length > 0) schema.required = required
  schema.additionalProperties =
    parts.map((part) => part.additionalProperties).find((others) => others) ?? false
  return schema
}

function chosen(object, wants) {
  const properties = Object.fromEntries(
    Object.entries(object.properties ?? {}).filter(([name]) => wants(name)),
  )
  const required = (object.required ?? []).filter(wants)
  return { ...object, properties, required: required.length > 0 ? required : undefined }
}
