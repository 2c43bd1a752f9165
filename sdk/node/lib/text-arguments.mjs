// Checks the arguments of a prompt against their schema. They arrive as texts and stay texts: a number is a
// text that parses as one.

import { ProtocolError } from './errors.mjs'
import { parse } from './json.mjs'

const INVALID_PARAMS = -32602
const LONGEST_SHOWN = 60

/** A function that takes the arguments of a call, and throws if they are invalid. */
export function textArguments(name, { properties = {}, additionalProperties, $defs }, isCheckedByLibrary) {
  const isClosed = !additionalProperties
  return (given) => {
    for (const [key, value] of Object.entries(given)) {
      const schema = Object.hasOwn(properties, key) ? properties[key] : undefined
      if (schema === undefined) {
        if (isClosed) throw refusal(`the prompt '${name}' has no argument \`${key}\`; ${knownNames(properties)}`)
      } else if (!isCheckedByLibrary) {
        const problem = new Reader($defs).problem(value, schema)
        if (problem) throw refusal(`the argument \`${key}\` ${problem}, not ${shown(value)}`)
      }
    }
  }
}

function refusal(message) {
  return new ProtocolError(INVALID_PARAMS, message)
}

function knownNames(properties) {
  const names = Object.keys(properties).map((name) => `\`${name}\``)
  return names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`
}

function shown(value) {
  const text = String(value)
  return `\`${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}\``
}

// Each parses a text as a value of its type, and returns undefined if that fails.
const READERS = {
  string: (text) => text,
  number: readNumber,
  integer: (text) => {
    const number = readNumber(text)
    return Number.isInteger(number) ? number : undefined
  },
  boolean: (text) => ({ true: true, false: false })[text],
  null: (text) => (text === 'null' || text === '' ? null : undefined),
  array: (text) => readJson(text, Array.isArray) ?? (text === '' ? [] : text.split(',').map((part) => part.trim())),
  object: (text) => readJson(text, (value) => value !== null && typeof value === 'object' && !Array.isArray(value)),
}

const TYPE_NAMES = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'an object as JSON',
}

function readNumber(text) {
  if (!/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

function readJson(text, isWanted) {
  try {
    const value = parse(text)
    return isWanted(value) ? value : undefined
  } catch {
    return undefined
  }
}

// [the schema keyword, whether a value satisfies it, the requirement in words], by type.
const BOUNDS = {
  number: [
    ['minimum', (value, least) => value >= least, (least) => `at least ${least}`],
    ['maximum', (value, most) => value <= most, (most) => `at most ${most}`],
    ['exclusiveMinimum', (value, below) => value > below, (below) => `more than ${below}`],
    ['exclusiveMaximum', (value, above) => value < above, (above) => `less than ${above}`],
    ['multipleOf', isMultiple, (step) => `a multiple of ${step}`],
  ],
  string: [
    ['minLength', (value, least) => lengthOf(value) >= least, (least) => `at least ${least} characters`],
    ['maxLength', (value, most) => lengthOf(value) <= most, (most) => `at most ${most} characters`],
    ['pattern', fitsPattern, (pattern) => `a text that fits the pattern ${pattern}`],
  ],
  array: [
    ['minItems', (value, least) => value.length >= least, (least) => `at least ${least} items`],
    ['maxItems', (value, most) => value.length <= most, (most) => `at most ${most} items`],
  ],
}

function isMultiple(value, step) {
  const times = value / step
  return Math.abs(times - Math.round(times)) < 1e-9
}

/** JSON Schema counts characters, not UTF-16 units. */
function lengthOf(text) {
  return [...text].length
}

function fitsPattern(text, pattern) {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return new RegExp(pattern).test(text)
  }
}

// Instead of a problem: the text cannot be parsed as this type at all.
const OTHER_TYPE = Symbol('other type')

class Reader {
  #definitions

  constructor(definitions = {}) {
    this.#definitions = definitions
  }

  /** The requirement of a schema for a value that does not satisfy it: it completes "the argument …". */
  problem(value, written) {
    const schema = this.#resolved(written)
    if (schema.enum) return isAmong(value, schema.enum) ? undefined : `takes one of ${schema.enum.join(', ')}`
    if ('const' in schema) return isAmong(value, [schema.const]) ? undefined : `takes ${schema.const}`
    return this.#typeProblem(value, schema) ?? this.#choiceProblem(value, schema)
  }

  #typeProblem(value, schema) {
    if (schema.type === undefined) return undefined
    const types = [schema.type].flat()
    const problems = types.map((type) => this.#problemAs(type, value, schema))
    if (problems.includes(undefined)) return undefined
    // Of several types, the problem of the one that the text parses as is the most helpful.
    const words = problems.find((problem) => problem !== OTHER_TYPE)
    return words ?? `takes ${types.map((type) => TYPE_NAMES[type]).join(' or ')}`
  }

  #problemAs(type, value, schema) {
    const read = typeof value === 'string' ? READERS[type]?.(value) : value
    if (read === undefined) return OTHER_TYPE
    for (const [word, keeps, words] of BOUNDS[type === 'integer' ? 'number' : type] ?? [])
      if (schema[word] !== undefined && !keeps(read, schema[word])) return `takes ${words(schema[word])}`
    if (type !== 'array' || !schema.items) return undefined
    const found = read.map((item) => this.problem(item, schema.items)).find((problem) => problem !== undefined)
    return found && `takes a list, of which each item ${found}`
  }

  #choiceProblem(value, schema) {
    const all = schema.allOf?.map((one) => this.problem(value, one)).find((problem) => problem !== undefined)
    if (all) return all
    const choices = schema.anyOf ?? schema.oneOf
    if (!choices) return undefined
    const problems = choices.map((choice) => this.problem(value, choice))
    return problems.includes(undefined) ? undefined : problems.join(', or ')
  }

  #resolved(schema) {
    if (typeof schema !== 'object') return {}
    const name = /^#\/\$defs\/([^/]+)$/.exec(schema.$ref ?? '')?.[1]
    return (name && this.#definitions[name]) || schema
  }
}

/** Whether a value is one of these, also as a text: `1` matches 1. */
function isAmong(value, values) {
  return values.some((one) => one === value || String(one) === value)
}
