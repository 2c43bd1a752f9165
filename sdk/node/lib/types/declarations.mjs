// The types that a file declares: interfaces, type aliases and enums of TypeScript, typedefs of JSDoc. Each
// is parsed when a function first uses it.

import { commentText, parseComment, parseParameter, takeType } from './comments.mjs'
import { TypeReader } from './type-reader.mjs'
import { tokensOf } from './tokens.mjs'

export class Declarations {
  #source
  #tokens
  #places = new Map()
  #typedefs = new Map()
  #generic = new Set()
  #imported = new Set()
  #open = new Set()
  #recursive = new Set()
  #schemas = new Map()
  /** Types that contain themselves, by their names. */
  shared = {}

  constructor(source, tokens) {
    this.#source = source
    this.#tokens = tokens
    this.#findDeclarations()
    this.#findTypedefs()
  }

  #findDeclarations() {
    for (let at = 0; at < this.#tokens.length - 2; at += 1) {
      const [{ kind, text }, name, next] = this.#tokens.slice(at, at + 3)
      if (kind !== 'name') continue
      if (text === 'import') this.#findImports(at)
      if (name.kind !== 'name') continue
      const isDeclaration =
        (text === 'type' && ['=', '<'].includes(next.text)) ||
        (text === 'interface' && ['{', '<', 'extends'].includes(next.text)) ||
        (text === 'enum' && next.text === '{')
      if (!isDeclaration) continue
      if (next.text === '<') this.#generic.add(name.text)
      else this.#places.set(name.text, { kind: text, index: at + 2 })
    }
  }

  /** Names imported from other files, for the message if one is a type that cannot be read. */
  #findImports(index) {
    for (let at = index + 1; at < this.#tokens.length && this.#tokens[at].kind !== 'string'; at += 1) {
      if (this.#tokens[at].text === '(' || this.#tokens[at].text === '.') return
      if (this.#tokens[at].kind === 'name') this.#imported.add(this.#tokens[at].text)
    }
  }

  #findTypedefs() {
    for (const { comments } of this.#tokens) {
      for (const { text } of comments) {
        if (text.startsWith('/**') && text.includes('@typedef'))
          this.#addTypedefs(parseComment(commentText(text)))
      }
    }
  }

  #addTypedefs({ tags }) {
    let properties
    for (const { name, body } of tags) {
      if (name === 'typedef') {
        const { type, rest } = takeType(body)
        properties = []
        this.#typedefs.set(rest.split(/\s/)[0], { type, properties })
      } else if ((name === 'property' || name === 'prop') && properties) properties.push(parseParameter(body))
    }
  }

  /** The schema of a declared type; undefined for a name that is not declared here. */
  read(name) {
    const known = this.#schemas.get(name)
    if (known) return known
    if (!this.#places.has(name) && !this.#typedefs.has(name)) return undefined
    if (this.#open.has(name)) {
      this.#recursive.add(name)
      return { $ref: `#/$defs/${name}` }
    }
    this.#open.add(name)
    let schema = this.#places.has(name)
      ? this.#readPlace(this.#places.get(name))
      : this.#readTypedef(this.#typedefs.get(name))
    this.#open.delete(name)
    if (this.#recursive.has(name)) {
      this.shared[name] = schema
      schema = { $ref: `#/$defs/${name}` }
    }
    this.#schemas.set(name, schema)
    return schema
  }

  whyNot(name) {
    if (this.#generic.has(name)) return 'it has parameters of its own'
    if (this.#imported.has(name)) return 'it is declared in another file'
    return 'it is not declared in this file'
  }

  #readPlace({ kind, index }) {
    const reader = new TypeReader(this.#source, this.#tokens, kind === 'type' ? index + 1 : index, this)
    if (kind === 'interface') return reader.readInterface()
    return kind === 'enum' ? reader.readEnum() : reader.read().schema
  }

  #readTypedef({ type, properties }) {
    if (properties.length === 0) return this.readText(type ?? 'any').schema
    return this.objectOf(properties)
  }

  /** A type from a comment. */
  readText(type) {
    const tokens = tokensOf(type)
    return new TypeReader(type, tokens, 0, this).read()
  }

  /** The schema of an object whose members are in tags, as parseParameter reads them. */
  objectOf(members) {
    const properties = {}
    const required = []
    for (const { type, name, optional, value, description } of members) {
      const read = this.readText(type ?? 'any')
      properties[name] = { ...read.schema }
      if (description) properties[name].description = description
      if (value !== undefined) properties[name].default = value
      if (!optional && !read.optional) required.push(name)
    }
    const schema = { type: 'object', properties }
    if (required.length > 0) schema.required = required
    schema.additionalProperties = false
    return schema
  }

  /** A self-contained schema: with the recursive types, and an object at its top rather than a reference. */
  whole(schema) {
    if (Object.keys(this.shared).length === 0) return schema
    const name = /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1]
    return { ...(name ? this.shared[name] : schema), $defs: this.shared }
  }
}
