// Makes a JSON Schema from the short form, a whole JSON Schema, or a schema object of zod, arktype or any
// other library that provides a JSON Schema (Standard JSON Schema).

import { inspect } from 'node:util'

const SIMPLE = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  array: { type: 'array' },
  null: { type: 'null' },
  any: {},
}

// The members that mark an object as a JSON Schema of a value, and not as the short form of an object with
// such members.
const SCHEMA_LISTS = ['anyOf', 'oneOf', 'allOf', 'enum']

// Unknown arguments are errors, but a result may have undeclared members.
const CLOSED = { additionalProperties: false }

const TARGET = 'draft-2020-12'

/** The schema of an object: the arguments of a tool, or the fields of a question. */
export function objectSchema(written) {
  const exported = exportedSchema(written, 'input')
  if (exported?.type === 'object') return exported
  if (exported || !isPlainObject(written)) {
    throw new TypeError(
      `arguments are an object, but this is a schema of something else: ${inspect(written, { depth: 1 })}`,
    )
  }
  // `{ type: 'string' }` can only mean one argument named `type` here.
  return written.type === 'object' && hasSchemaCompany(written) ? written : shortObject(written, '', CLOSED)
}

/** The schema of any value, for results. A plain object is the short form of an object. */
export function valueSchema(written) {
  return exportedSchema(written, 'output') ?? member(written, '', {}).schema
}

/** The schema that a library provides for its own object; undefined for anything else. */
function exportedSchema(written, direction, path) {
  if (written === null || (typeof written !== 'object' && typeof written !== 'function')) return undefined
  const standard = written['~standard']
  if (standard === undefined) return undefined
  const describe = describer(written, standard, direction)
  if (describe === undefined) {
    const remedy =
      standard.vendor === 'valibot'
        ? "wrap it: toStandardJsonSchema(…) of '@valibot/to-json-schema'"
        : 'give a JSON Schema'
    throw new TypeError(
      `this schema of ${standard.vendor} does not say how it looks as JSON Schema; ${remedy}`,
    )
  }
  let schema
  try {
    schema = describe()
  } catch (error) {
    throw new UndescribedSchema(standard.vendor, path ?? undescribedMember(written, direction), direction, error)
  }
  const { $schema, '~standard': _, ...rest } = schema
  return rest
}

function describer(written, standard, direction) {
  if (standard.jsonSchema) return () => standard.jsonSchema[direction]({ target: TARGET })
  if (typeof written.toJSONSchema === 'function')
    return () => written.toJSONSchema({ target: TARGET, io: direction })
  return typeof written.toJsonSchema === 'function' ? () => written.toJsonSchema() : undefined
}

/** The path to the first member of an object schema that cannot be described. */
function undescribedMember({ shape }, direction) {
  if (shape === null || typeof shape !== 'object') return ''
  for (const [key, member] of Object.entries(shape)) {
    try {
      exportedSchema(member, direction)
    } catch (error) {
      return error.path ? `${key}.${error.path}` : key
    }
  }
  return ''
}

/** A library's schema with a part that has no JSON Schema, for example a date. */
export class UndescribedSchema extends TypeError {
  constructor(vendor, path, direction, error) {
    const whose = direction === 'input' ? 'argument' : 'output'
    const where = path === '' ? whose : `${whose} \`${path}\``
    const remedy =
      vendor === 'zod'
        ? 'use z.string() and convert it in the function, or in z.object({…}) z.string().pipe(z.coerce.date())'
        : 'use a type that JSON has'
    super(`${where}: ${vendor} cannot describe it (${error.message}); ${remedy}`)
    this.path = path
  }
}

/** Whether a library's schema accepts a missing value. */
function acceptsNothing(schema) {
  const outcome = schema['~standard'].validate?.(undefined)
  return outcome !== undefined && typeof outcome.then !== 'function' && outcome.issues === undefined
}

/** The function that checks and converts arguments with a library's schema; undefined if there is none. */
export function validatorOf(written) {
  return written?.['~standard']?.validate
}

function isPlainObject(value) {
  if (value === null || typeof value !== 'object') return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Whether an object is a JSON Schema of a value: `{ type: 'string' }` is one, `{ type: 'string', id: 'number' }` is not. */
function isSchema(object) {
  const { type } = object
  if (Array.isArray(type)) return type.every((one) => one in SIMPLE) && hasSchemaCompany(object)
  if (typeof type === 'string' && type in SIMPLE && type !== 'any') return hasSchemaCompany(object)
  if (typeof object.$ref === 'string' || 'const' in object) return hasSchemaCompany(object)
  return SCHEMA_LISTS.some((word) => Array.isArray(object[word]))
}

/** Whether the members beside `type` are schema keywords too: `{ type: 'string', a: 'number' }` has two arguments. */
function hasSchemaCompany(object) {
  return Object.keys(object).every((key) => KEYWORDS.has(key) || key.startsWith('x-'))
}

const KEYWORDS = new Set(
  `type title description default examples deprecated readOnly writeOnly format enum const $ref $defs $id $schema $comment
  $anchor definitions properties required additionalProperties patternProperties propertyNames minProperties maxProperties
  dependentRequired dependentSchemas items prefixItems contains minItems maxItems uniqueItems minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern contentEncoding contentMediaType enumNames
  anyOf oneOf allOf not if then else unevaluatedProperties unevaluatedItems optional`.split(/\s+/),
)

function shortObject(fields, path, ending) {
  const properties = {}
  const required = []
  for (const [key, written] of Object.entries(fields)) {
    const name = key.endsWith('?') ? key.slice(0, -1) : key
    const { schema, optional } = member(written, path === '' ? name : `${path}.${name}`, ending)
    properties[name] = schema
    if (!optional && !key.endsWith('?')) required.push(name)
  }
  const schema = { type: 'object', properties }
  if (required.length > 0) schema.required = required
  return { ...schema, ...ending }
}

function member(written, path, ending) {
  if (typeof written === 'string') return word(written, path)
  if (Array.isArray(written)) return { schema: choices(written, path), optional: false }
  const exported = exportedSchema(written, 'input', path || undefined)
  if (exported) return { schema: exported, optional: acceptsNothing(written) }
  if (!isPlainObject(written)) throw refusal(written, path)
  if (!isSchema(written)) return { schema: shortObject(written, path, ending), optional: false }
  const { optional = 'default' in written, ...schema } = written
  return { schema, optional }
}

/**
 * 'number', 'string?', 'integer[]', 'string[]?', 'string|null', each optionally followed by a dash and a
 * description.
 */
function word(written, path) {
  const [, type, description] = /^(\S+?)(?:\s+-\s+(.*))?$/s.exec(written.trim()) ?? []
  if (type === undefined) throw refusal(written, path)
  const optional = type.endsWith('?')
  const schema = union(optional ? type.slice(0, -1) : type, written, path)
  return { schema: description ? { ...schema, description } : schema, optional }
}

function union(type, written, path) {
  const parts = type.split('|').map((part) => listOrSimple(part, written, path))
  if (parts.length === 1) return parts[0]
  return parts.every(({ type, items }) => type && !items)
    ? { type: parts.map(({ type }) => type) }
    : { anyOf: parts }
}

function listOrSimple(type, written, path) {
  if (type.endsWith('[]')) return { type: 'array', items: listOrSimple(type.slice(0, -2), written, path) }
  if (!Object.hasOwn(SIMPLE, type)) throw refusal(written, path)
  return { ...SIMPLE[type] }
}

function choices(values, path) {
  if (values.length === 0) throw refusal(values, path)
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)))
  if ([...types].some((type) => !['string', 'number', 'boolean', 'null'].includes(type)))
    throw refusal(values, path)
  return types.size === 1 ? { type: [...types][0], enum: values } : { enum: values }
}

function refusal(written, path) {
  const where = path === '' ? 'the schema' : `\`${path}\``
  const words = Object.keys(SIMPLE).join(', ')
  return new TypeError(
    `${where} cannot be read: ${inspect(written, { depth: 1 })}; write one of ${words} (with ? if it may be missing, [] for a list), ` +
      'an array of choices, an object of these, or a JSON Schema',
  )
}
