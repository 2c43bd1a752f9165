// The arguments of prompts: they arrive as texts, and are checked against their schema.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ready, start } from './host.mjs'

/** [the schema of `a`, a text, the refusal; undefined if the text is accepted] */
const TEXTS = [
  ["['short', 'long']", 'short'],
  ["['short', 'long']", 'zzz', 'takes one of short, long, not `zzz`'],
  ["['short', 'long']", '', 'takes one of short, long, not ``'],
  ['[1, 2]', '2'],
  ['[1, 2]', '3', 'takes one of 1, 2, not `3`'],
  ["{ const: 'x' }", 'y', 'takes x, not `y`'],
  ["'integer'", '-12'],
  ["'integer'", 'x', 'takes a whole number, not `x`'],
  ["'integer'", '1.5', 'takes a whole number, not `1.5`'],
  ["'integer'", '', 'takes a whole number, not ``'],
  ["'number'", '1e3'],
  ["'number'", '0x10', 'takes a number, not `0x10`'],
  ["'number'", 'Infinity', 'takes a number, not `Infinity`'],
  ["'number'", '1'.repeat(400), `takes a number, not \`${'1'.repeat(60)}…\``],
  ["'boolean'", 'false'],
  ["'boolean'", 'perhaps', 'takes true or false, not `perhaps`'],
  ["{ type: 'integer', minimum: 1 }", '1'],
  ["{ type: 'integer', minimum: 1 }", '0', 'takes at least 1, not `0`'],
  ["{ type: 'number', maximum: 1 }", '1.1', 'takes at most 1, not `1.1`'],
  ["{ type: 'number', exclusiveMinimum: 1 }", '1', 'takes more than 1, not `1`'],
  ["{ type: 'number', exclusiveMaximum: 1 }", '1', 'takes less than 1, not `1`'],
  ["{ type: 'number', multipleOf: 0.1 }", '0.3'],
  ["{ type: 'number', multipleOf: 2 }", '3', 'takes a multiple of 2, not `3`'],
  ["{ type: 'string', maxLength: 2 }", '😀😀'],
  ["{ type: 'string', maxLength: 2 }", 'abc', 'takes at most 2 characters, not `abc`'],
  ["{ type: 'string', minLength: 1 }", '', 'takes at least 1 characters, not ``'],
  ["{ type: 'string', pattern: '^[a-z]+$' }", 'abc'],
  [
    "{ type: 'string', pattern: '^[a-z]+$' }",
    'a1',
    'takes a text that fits the pattern ^[a-z]+$, not `a1`',
  ],
  ["'number|null'", 'null'],
  ["'number|null'", 'x', 'takes a number or null, not `x`'],
  ["'integer[]'", '1, 2'],
  ["'integer[]'", '[1, 2]'],
  ["'integer[]'", '1,x', 'takes a list, of which each item takes a whole number, not `1,x`'],
  ["{ type: 'array', maxItems: 1 }", '1,2', 'takes at most 1 items, not `1,2`'],
  ["'object'", '{"x":1}'],
  ["'object'", '[1]', 'takes an object as JSON, not `[1]`'],
  ["{ anyOf: [{ type: 'integer' }, { enum: ['all'] }] }", 'all'],
  [
    "{ anyOf: [{ type: 'integer' }, { enum: ['all'] }] }",
    'none',
    'takes a whole number, or takes one of all, not `none`',
  ],
  ["{ allOf: [{ type: 'string', maxLength: 1 }] }", 'ab', 'takes at most 1 characters, not `ab`'],
  ["'any'", 'anything'],
]

const get = async (host, prompt, parameters) =>
  (await host.untilEnd(host.call({ prompt, arguments: parameters }))).end

test('a text that its schema does not take is refused, and others arrive as they are', async (t) => {
  const lines = TEXTS.map(
    ([schema], index) => `export const p${index} = prompt('x', { a: ${schema} }, ({ a }) => 'got ' + typeof a + a)`,
  )
  const host = await start(t, `import { prompt } from 'mcp-bash'\n${lines.join('\n')}`)
  for (const [index, [schema, given, refusal]] of TEXTS.entries()) {
    const { result, error } = await get(host, `p${index}`, { a: given })
    const what = `${schema} ${given}`
    if (refusal === undefined) assert.equal(result?.messages[0].content.text, `got string${given}`, what)
    else assert.deepEqual(error, { code: -32602, message: `the argument \`a\` ${refusal}` }, what)
  }
})

test('an argument that the prompt has not is refused, unless its schema says otherwise', async (t) => {
  const host = await start(
    t,
    `import { prompt } from 'mcp-bash'
    export const some = prompt('x', { a: 'string?', b: 'string?' }, () => 'x')
    export const none = prompt('x', {}, () => 'x')
    export const open = prompt('x', { type: 'object', properties: {}, additionalProperties: true }, (args) => Object.keys(args).join())`,
  )
  const refused = async (name) => (await get(host, name, { zzz: '1' })).error
  assert.deepEqual(await refused('some'), {
    code: -32602,
    message: "the prompt 'some' has no argument `zzz`; it takes `a`, `b`",
  })
  assert.equal((await refused('none')).message, "the prompt 'none' has no argument `zzz`; it takes none")
  assert.equal((await get(host, 'none', { toString: '1' })).error?.code, -32602)
  assert.equal((await get(host, 'open', { zzz: '1' })).result.messages[0].content.text, 'zzz')
})

test('types of a function are held to as well, and a library checks by itself', async (t) => {
  const host = await start(
    t,
    `import { prompt } from 'mcp-bash'
    /** @param {{ n: number, how?: 'fast' | 'slow' }} args */
    export const typed = prompt(({ n }) => 'got ' + n)
    const schema = { '~standard': { version: 1, vendor: 'mine', jsonSchema: { input: () => ({ type: 'object', properties: { n: { type: 'integer' } } }) },
      validate: ({ n }) => n === 'five' ? { value: { n: 5 } } : { issues: [{ message: 'not five', path: ['n'] }] } } }
    export const own = prompt('x', schema, ({ n }) => 'got ' + n)`,
  )
  assert.equal((await get(host, 'typed', { n: 'x' })).error.message, 'the argument `n` takes a number, not `x`')
  assert.match((await get(host, 'typed', { n: '1', how: 'x' })).error.message, /`how` takes one of fast, slow/)
  assert.equal((await get(host, 'typed', { n: '1' })).result.messages[0].content.text, 'got 1')
  assert.equal((await get(host, 'own', { n: 'five' })).result.messages[0].content.text, 'got 5')
  const { error } = await get(host, 'own', { n: '6' })
  assert.deepEqual([error.code, error.message], [-32602, 'the arguments do not fit: n: not five'])
})

test('the server is told what stands in the place of a missing argument', async (t) => {
  const { prompts } = await ready(
    t,
    `import { prompt } from 'mcp-bash'\nexport const p = prompt('x', { n: { type: 'integer', default: 3 } }, () => 'x')`,
  )
  assert.deepEqual(prompts[0].arguments, [{ name: 'n', required: false, default: 3 }])
})
