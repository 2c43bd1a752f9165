// Schemas from TypeScript and JSDoc types. The reader parses the text of a file, so TypeScript is tested on
// every node here, whether or not it can run it.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SDK, failure, project, ready } from './host.mjs'

const { readFunction } = await import(join(SDK, 'lib/types/function-types.mjs'))

const object = (properties, required, others = false) => ({
  type: 'object',
  properties,
  ...(required ? { required } : {}),
  additionalProperties: others,
})

/** The same schema for results, which may have other members too. */
const opened = (schema) =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  )

let files = 0

/** The information from the first `tool(` in a source. */
function read(t, source) {
  const root = project(t, {})
  const file = join(root, `${(files += 1)}.ts`)
  writeFileSync(file, source)
  const at = source.search(/\btool\(/)
  const before = source.slice(0, at).split('\n')
  return readFunction({ file, line: before.length, column: before.at(-1).length + 1 })
}

/** [a type, its schema] */
const TYPES = [
  ['string', { type: 'string' }],
  ['number', { type: 'number' }],
  ['boolean', { type: 'boolean' }],
  ['any', {}],
  ['unknown', {}],
  ['object', { type: 'object' }],
  ['null', { type: 'null' }],
  ['string[]', { type: 'array', items: { type: 'string' } }],
  ['readonly string[]', { type: 'array', items: { type: 'string' } }],
  ['Array<string>', { type: 'array', items: { type: 'string' } }],
  ['(string | number)[]', { type: 'array', items: { type: ['string', 'number'] } }],
  ['string[][]', { type: 'array', items: { type: 'array', items: { type: 'string' } } }],
  ["'fast' | 'slow'", { type: 'string', enum: ['fast', 'slow'] }],
  ["| 'fast'\n | 'slow'", { type: 'string', enum: ['fast', 'slow'] }],
  ['1 | 2 | -3', { type: 'number', enum: [1, 2, -3] }],
  ["'it\\'s' | \"two\"", { type: 'string', enum: ["it's", 'two'] }],
  ["'a' | 1 | null", { enum: ['a', 1, null] }],
  ['true', { const: true }],
  ['true | false', { type: 'boolean' }],
  ['string | null', { type: ['string', 'null'] }],
  ['string | number[]', { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] }],
  ['Record<string, number>', { type: 'object', additionalProperties: { type: 'number' } }],
  ["Record<'a' | 'b', number>", object({ a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b'])],
  ['{ [key: string]: number }', object({}, undefined, { type: 'number' })],
  ['{ x: number; y?: string }', object({ x: { type: 'number' }, y: { type: 'string' } }, ['x'])],
  [
    "{ 'a-b': number, readonly c: string, readonly: boolean }",
    object({ 'a-b': { type: 'number' }, c: { type: 'string' }, readonly: { type: 'boolean' } }, [
      'a-b',
      'c',
      'readonly',
    ]),
  ],
  ['{ x: number } & { y: string }', object({ x: { type: 'number' }, y: { type: 'string' } }, ['x', 'y'])],
  [
    '[number, string?]',
    { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], minItems: 1, maxItems: 2 },
  ],
  [
    '[x: number, y?: number]',
    { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], minItems: 1, maxItems: 2 },
  ],
  ['Point', object({ x: { type: 'number' }, y: { type: 'number' } }, ['x', 'y'])],
  [
    'Point3',
    object({ x: { type: 'number' }, y: { type: 'number' }, z: { type: 'number' } }, ['x', 'y', 'z']),
  ],
  ['Partial<Point>', object({ x: { type: 'number' }, y: { type: 'number' } })],
  ["Pick<Point, 'x'>", object({ x: { type: 'number' } }, ['x'])],
  ["Omit<Point, 'x'>", object({ y: { type: 'number' } }, ['y'])],
  ['Required<{ a?: string }>', object({ a: { type: 'string' } }, ['a'])],
  ['Mode', { type: 'string', enum: ['fast', 'slow'] }],
  ['Colour', { enum: ['r', 'g'] }],
  ['Level', { enum: [0, 1, 5, 6] }],
  ['Date', { type: 'string', format: 'date-time' }],
]

const DECLARATIONS = `
import { tool } from 'mcp-bash'
import type { Foreign } from './other.ts'
interface Point { x: number, y: number }
export interface Point3 extends Point { z: number }
type Mode = 'fast' | 'slow'
enum Colour { Red = 'r', Green = 'g' }
const enum Level { Low, Middle, High = 5, Highest }
type Box<T> = { content: T }
const tricky = /["'\`{]/.test('x') ? \`\${'}'} \` : 4 / 2 / 1
`

for (const [type, schema] of TYPES) {
  test(`the type ${type.replace(/\n/g, ' ')}`, (t) => {
    const source = `${DECLARATIONS}\nexport const f = tool('x', async ({ a }: { a: ${type} }): Promise<${type}> => a)`
    const { input, output } = read(t, source)
    assert.deepEqual(input, {
      type: 'object',
      properties: { a: schema },
      required: ['a'],
      additionalProperties: false,
    })
    if (!['any', 'unknown', 'object'].includes(type)) assert.deepEqual(output, opened(schema))
  })
}

/** [a function, the schema of its arguments] */
const FUNCTIONS = [
  ['({ a }: { a: number }) => a', object({ a: { type: 'number' } }, ['a'])],
  ['function ({ a }: { a: number }): number { return a }', object({ a: { type: 'number' } }, ['a'])],
  ['async function named(args: { a: number }) {}', object({ a: { type: 'number' } }, ['a'])],
  ['(args: Point, { progress }) => 1', object({ x: { type: 'number' }, y: { type: 'number' } }, ['x', 'y'])],
  [
    "({ a = 3, b = 'x', c = -1, d = [], e: other = true }: { a?: number, b: string, c: number, d: string[], e: boolean }) => 1",
    object(
      {
        a: { type: 'number', default: 3 },
        b: { type: 'string', default: 'x' },
        c: { type: 'number', default: -1 },
        d: { type: 'array', items: { type: 'string' } },
        e: { type: 'boolean', default: true },
      },
      ['d'],
    ),
  ],
  ['declared', object({ n: { type: 'number' } }, ['n'])],
  ['arrow', object({ m: { type: 'string' } }, ['m'])],
  ['() => 1', object({})],
  ['async () => 1', object({})],
  ['({ a }: { a?: string | undefined }) => 1', object({ a: { type: 'string' } })],
  ['({ a }: { a: string | undefined }) => 1', object({ a: { type: 'string' } })],
]

for (const [handler, schema] of FUNCTIONS) {
  test(`the arguments of ${handler}`, (t) => {
    const source = `${DECLARATIONS}
async function declared({ n }: { n: number }): Promise<void> {}
const arrow = ({ m }: { m: string }): string => m
export const f = tool('It (really, "well") {works}', ${handler})`
    assert.deepEqual(read(t, source).input, schema)
  })
}

test('comments describe members', (t) => {
  const { input, description } = read(
    t,
    `
    interface Args {
      /** The first one. */
      a: number
      b: string // the second one
      // the third
      c?: boolean,
      /**
       * A size
       * in pixels.
       * @minimum 1
       * @maximum 10
       * @default 3
       * @integer
       */
      size?: number
      d: string[], // the last one
    }
    /**
     * Does things
     * to numbers.
     *
     * And more.
     */
    export const f = tool((args: Args) => 1)`,
  )
  assert.equal(description, 'Does things to numbers.\n\nAnd more.')
  assert.deepEqual(input.properties, {
    a: { type: 'number', description: 'The first one.' },
    b: { type: 'string', description: 'the second one' },
    c: { type: 'boolean', description: 'the third' },
    size: { type: 'integer', description: 'A size in pixels.', minimum: 1, maximum: 10, default: 3 },
    d: { type: 'array', items: { type: 'string' }, description: 'the last one' },
  })
})

test('comments in one line describe what they stand before', (t) => {
  const { input } = read(
    t,
    'export const f = tool((args: { /** first */ a: number, /** second */ b: number, c: { x: 1 /* one */ } }) => 1)',
  )
  assert.equal(input.properties.a.description, 'first')
  assert.equal(input.properties.b.description, 'second')
  assert.equal(input.properties.c.properties.x.description, 'one')
})

test('a type that contains itself', (t) => {
  const { input } = read(
    t,
    'interface Tree { name: string, children: Tree[] }\nexport const f = tool((args: { root: Tree }) => 1)',
  )
  assert.deepEqual(input.properties.root, { $ref: '#/$defs/Tree' })
  assert.deepEqual(input.$defs.Tree.properties.children, { type: 'array', items: { $ref: '#/$defs/Tree' } })
  const whole = read(
    t,
    'interface Tree { name: string, children: Tree[] }\nexport const f = tool((args: Tree) => 1)',
  ).input
  assert.equal(whole.type, 'object')
  assert.deepEqual(whole.$defs.Tree.properties.children, { type: 'array', items: { $ref: '#/$defs/Tree' } })
})

/** [a type, why it is refused] */
const REFUSED = [
  ['Map<string, number>', /the type `Map<string, number>` cannot be read: it is not declared in this file/],
  ['Foreign', /the type `Foreign` cannot be read: it is declared in another file/],
  ['Box<string>', /the type `Box<string>` cannot be read: it has parameters of its own/],
  ['(x: number) => string', /JSON has no functions/],
  ['{ m(): void }', /JSON has no functions/],
  ['keyof Point', /it needs a compiler/],
  ['typeof tricky', /it needs a compiler/],
  ["Point['x']", /a type out of another one/],
  ['bigint', /`bigint` cannot be read/],
  ['string & number', /only objects can be joined/],
  ['[...string[]]', /a tuple of any length/],
  ['`a${string}`', /cannot be read/],
]

for (const [type, message] of REFUSED) {
  test(`the type ${type} is refused`, (t) => {
    const source = `${DECLARATIONS}\nexport const f = tool(({ a }: {\n  a: ${type}\n}) => a)`
    assert.throws(
      () => read(t, source),
      (error) => {
        assert.match(error.message, message)
        assert.equal(error.line, source.split('\n').findIndex((line) => line.startsWith('  a: ')) + 1)
        return true
      },
    )
  })
}

test('a member called additionalProperties is one', (t) => {
  const { output } = read(t, 'export const f = tool((): { additionalProperties: false } => x)')
  assert.deepEqual(output.properties, { additionalProperties: { const: false } })
})

test('a return type that cannot be read costs the output schema only', (t) => {
  const { input, output, unreadOutput } = read(
    t,
    'export const f = tool((args: { a: number }): Map<string, number> => 1)',
  )
  assert.equal(input.required[0], 'a')
  assert.equal(output, undefined)
  assert.match(unreadOutput, /Map<string, number>/)
})

/** [a comment and a tool, the schema of its arguments] */
const JSDOC = [
  [
    '/** @param {{a: number, b?: string}} args */',
    object({ a: { type: 'number' }, b: { type: 'string' } }, ['a']),
  ],
  [
    `/**
      * Adds.
      * @param {object} args
      * @param {number} args.a - the first
      * @param {string} [args.b='x'] the second
      * @param {number=} args.c
      * @param {?string} args.d
      * @param {Array.<string>} args.e
      */`,
    object(
      {
        a: { type: 'number', description: 'the first' },
        b: { type: 'string', description: 'the second', default: 'x' },
        c: { type: 'number' },
        d: { type: ['string', 'null'] },
        e: { type: 'array', items: { type: 'string' } },
      },
      ['a', 'd', 'e'],
    ),
  ],
  [
    '/** @typedef {{x: integer}} Point */\n/** @param {Point} args */',
    object({ x: { type: 'integer' } }, ['x']),
  ],
  [
    '/**\n * @typedef {object} Point\n * @property {number} x - across\n * @property {number} [y]\n */\n/** @param {Point} args */',
    object({ x: { type: 'number', description: 'across' }, y: { type: 'number' } }, ['x']),
  ],
]

for (const [comment, schema] of JSDOC) {
  test(`JSDoc: ${comment.replace(/\s+/g, ' ')}`, (t) => {
    assert.deepEqual(read(t, `${comment}\nexport const f = tool((args) => 1)`).input, schema)
    assert.deepEqual(read(t, `export default {\n${comment}\n  f: tool((args) => 1),\n}`).input, schema)
    assert.deepEqual(read(t, `${comment}\nfunction f(args) {}\nexport const g = tool(f)`).input, schema)
  })
}

test('JSDoc in a file that is served', async (t) => {
  const { tools } = await ready(
    t,
    `import { tool } from 'mcp-bash'
    /**
     * Adds two numbers.
     * @param {{a: number, b: number}} args
     * @returns {Promise<{sum: number}>}
     */
    export const add = tool(async ({ a, b }) => ({ sum: a + b }))`,
  )
  assert.deepEqual(tools, [
    {
      name: 'add',
      description: 'Adds two numbers.',
      inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']),
      outputSchema: opened(object({ sum: { type: 'number' } }, ['sum'])),
    },
  ])
})

test('arguments without any type are refused, with the remedy', async (t) => {
  const said = await failure(t, `import { tool } from 'mcp-bash'\n\nexport const add = tool(({ a }) => a)`)
  assert.equal(
    said,
    "tools/f.mjs:3: the arguments of 'add' are not known: its parameter has no type; give a schema: tool('…', { a: 'string' }, …)",
  )
  const { tools } = await ready(
    t,
    `import { tool } from 'mcp-bash'\nexport const f = tool('x', (_, { log }) => 1)`,
  )
  assert.deepEqual(tools[0].inputSchema, object({}))
})

test('TypeScript runs where this node strips types, and is refused in one line elsewhere', async (t) => {
  const source = `import { tool } from 'mcp-bash'
interface Args { /** the first */ a: number, b?: number }
/** Adds. */
export const add = tool(({ a, b = 1 }: Args): number => a + b)
`
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 15)) {
    const { tools } = await ready(t, source, { file: 'tools/f.ts' })
    assert.deepEqual(tools[0], {
      name: 'add',
      description: 'Adds.',
      inputSchema: object(
        { a: { type: 'number', description: 'the first' }, b: { type: 'number', default: 1 } },
        ['a'],
      ),
      outputSchema: { type: 'object', properties: { result: { type: 'number' } }, required: ['result'] },
    })
    const said = await failure(t, source.replace('a: number,', 'a: Map<string, number>,'), {
      file: 'tools/f.mts',
    })
    assert.match(
      said,
      /^tools\/f\.mts:2: the arguments of 'add' are not known: the type `Map<string, number>` cannot be read/,
    )
  } else {
    const said = await failure(t, source, { file: 'tools/f.ts' })
    assert.match(said, /^tools\/f\.ts:1: TypeScript needs node 22\.18 or newer, and this is v/)
  }
})
