// The definitions of a function file, as tables: source → definition.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failure, ready, start } from './host.mjs'

const object = (properties, required) => ({
  type: 'object',
  properties,
  ...(required ? { required } : {}),
  additionalProperties: false,
})

/** [the input in the source, the schema for the server] */
const INPUTS = [
  ["{ a: 'number', b: 'integer?' }", object({ a: { type: 'number' }, b: { type: 'integer' } }, ['a'])],
  ["{ 'a?': 'string' }", object({ a: { type: 'string' } })],
  ["{ mode: ['fast', 'slow'] }", object({ mode: { type: 'string', enum: ['fast', 'slow'] } }, ['mode'])],
  ["{ n: [1, 'x', null] }", object({ n: { enum: [1, 'x', null] } }, ['n'])],
  ["{ tags: 'string[]' }", object({ tags: { type: 'array', items: { type: 'string' } } }, ['tags'])],
  [
    "{ grid: 'number[][]?' }",
    object({ grid: { type: 'array', items: { type: 'array', items: { type: 'number' } } } }),
  ],
  ["{ x: 'string|null' }", object({ x: { type: ['string', 'null'] } }, ['x'])],
  [
    "{ x: 'string|number[]' }",
    object({ x: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] } }, ['x']),
  ],
  ["{ a: 'number - the first one' }", object({ a: { type: 'number', description: 'the first one' } }, ['a'])],
  ["{ a: 'any?', o: 'object' }", object({ a: {}, o: { type: 'object' } }, ['o'])],
  [
    "{ nested: { x: 'number', y: 'number?' } }",
    object({ nested: object({ x: { type: 'number' }, y: { type: 'number' } }, ['x']) }, ['nested']),
  ],
  [
    "{ size: { type: 'integer', minimum: 1, description: 'How large', default: 3 } }",
    object({ size: { type: 'integer', minimum: 1, description: 'How large', default: 3 } }),
  ],
  ["{ size: { type: 'integer', optional: true } }", object({ size: { type: 'integer' } })],
  [
    "{ list: { type: 'array', items: { type: 'string' } } }",
    object({ list: { type: 'array', items: { type: 'string' } } }, ['list']),
  ],
  // Arguments whose names are schema keywords.
  ["{ type: 'string' }", object({ type: { type: 'string' } }, ['type'])],
  [
    "{ type: 'string', name: 'string' }",
    object({ type: { type: 'string' }, name: { type: 'string' } }, ['type', 'name']),
  ],
  [
    "{ filter: { type: 'string', id: 'number' } }",
    object({ filter: object({ type: { type: 'string' }, id: { type: 'number' } }, ['type', 'id']) }, [
      'filter',
    ]),
  ],
  [
    "{ items: 'string[]', enum: ['a'] }",
    object({ items: { type: 'array', items: { type: 'string' } }, enum: { type: 'string', enum: ['a'] } }, [
      'items',
      'enum',
    ]),
  ],
  // A whole JSON Schema stays unchanged.
  [
    "{ type: 'object', properties: { a: { type: 'string' } } }",
    { type: 'object', properties: { a: { type: 'string' } } },
  ],
  ['{}', object({})],
]

test('the short form of arguments', async (t) => {
  const lines = INPUTS.map(([written], index) => `export const t${index} = tool('x', ${written}, () => 1)`)
  const { tools } = await ready(t, `import { tool } from 'mcp-bash'\n${lines.join('\n')}`)
  for (const [index, [written, schema]] of INPUTS.entries()) {
    assert.deepEqual(tools.find(({ name }) => name === `t${index}`).inputSchema, schema, written)
  }
})

/** [the output in the source, the schema for the server] */
const OUTPUTS = [
  [
    "{ sum: 'number', in: { x: 'number?' } }",
    {
      type: 'object',
      properties: { sum: { type: 'number' }, in: { type: 'object', properties: { x: { type: 'number' } } } },
      required: ['sum', 'in'],
    },
  ],
  ["{ const: 'x' }", { type: 'object', properties: { result: { const: 'x' } }, required: ['result'] }],
  ["'number'", { type: 'object', properties: { result: { type: 'number' } }, required: ['result'] }],
  [
    "['a', 'b']",
    { type: 'object', properties: { result: { type: 'string', enum: ['a', 'b'] } }, required: ['result'] },
  ],
  [
    "{ type: 'array', items: { $ref: '#/$defs/x' }, $defs: { x: { type: 'null' } } }",
    {
      type: 'object',
      properties: { result: { type: 'array', items: { $ref: '#/$defs/x' } } },
      required: ['result'],
      $defs: { x: { type: 'null' } },
    },
  ],
]

test('the short form of results', async (t) => {
  const lines = OUTPUTS.map(
    ([written], index) =>
      `export const t${index} = tool({ description: 'x', input: {}, output: ${written} }, () => 1)`,
  )
  const { tools } = await ready(t, `import { tool } from 'mcp-bash'\n${lines.join('\n')}`)
  for (const [index, [written, schema]] of OUTPUTS.entries()) {
    assert.deepEqual(tools.find(({ name }) => name === `t${index}`).outputSchema, schema, written)
  }
})

test('schemas of libraries', async (t) => {
  // A library in a few lines that behaves like zod, arktype and valibot.
  const library = `export const number = (jsonSchema = { type: 'number' }) => ({ '~standard': { version: 1, vendor: 'mine', jsonSchema: { input: () => jsonSchema },
      validate: (value) => value === undefined ? { issues: [{ message: 'Required' }] } : { value } } })
    export const object = (properties) => ({ '~standard': { version: 1, vendor: 'mine',
      jsonSchema: { input: ({ target }) => ({ $schema: target, type: 'object', properties }), output: () => ({ type: 'object', properties: { out: {} } }) },
      validate: async (value) => value.a > 5 ? { issues: [{ message: 'too large', path: ['a', { key: 'b' }] }] } : { value: { ...value, added: true } } } })
    export const silent = { '~standard': { version: 1, vendor: 'valibot', validate: (value) => ({ value }) } }`
  const files = { 'lib/library.mjs': library }
  const source = `import { tool } from 'mcp-bash'\nimport { number, object, silent } from '../lib/library.mjs'\n`
  const host = await start(
    t,
    `${source}
    export const f = tool({ input: object({ a: { type: 'number' } }), output: object({}) }, (args) => args)
    export const g = tool('x', { n: number(), m: 'string' }, () => 1)`,
    { files },
  )
  const { tools } = host.first.ready
  assert.deepEqual(tools[0].inputSchema, { type: 'object', properties: { a: { type: 'number' } } })
  assert.deepEqual(tools[0].outputSchema, { type: 'object', properties: { out: {} } })
  assert.deepEqual(tools[1].inputSchema, object({ n: { type: 'number' }, m: { type: 'string' } }, ['n', 'm']))
  assert.deepEqual((await host.tool('f', { a: 1 })).result.structuredContent, { a: 1, added: true })
  assert.equal(await host.errorText('f', { a: 9 }), 'the arguments do not fit: a.b: too large')
  assert.match(
    await failure(t, `${source}export const f = tool('x', silent, () => 1)`, { files }),
    /wrap it: toStandardJsonSchema/,
  )
})

/** [the arguments, the message] of a library like zod that has no JSON Schema for dates */
const UNDESCRIBED = [
  ['object({ a: string, when: date })', 'argument `when`'],
  ['object({ a: object({ b: string, when: date }) })', 'argument `a.when`'],
  ['{ a: string, when: date }', 'argument `when`'],
  ['date', 'argument'],
]

test('what a library cannot describe is refused with the names of the tool and the argument', async (t) => {
  const library = `const schema = (describe, more) => ({ ...more, '~standard': { version: 1, vendor: 'zod', jsonSchema: { input: describe }, validate: (value) => ({ value }) } })
    export const string = schema(() => ({ type: 'string' }))
    export const date = schema(() => { throw new Error('Date cannot be represented in JSON Schema') })
    export const object = (shape) => schema(() => ({ type: 'object', properties: Object.fromEntries(Object.entries(shape).map(([key, one]) => [key, one['~standard'].jsonSchema.input()])) }), { shape })`
  const files = { 'node_modules/zod/package.json': '{"name":"zod","type":"module","exports":"./index.mjs"}', 'node_modules/zod/index.mjs': library }
  for (const [written, where] of UNDESCRIBED) {
    const source = `import { tool } from 'mcp-bash'\nimport { object, string, date } from 'zod'\nexport const plan = tool('x', ${written}, () => 1)`
    assert.equal(
      await failure(t, source, { files }),
      `tools/f.mjs:3: tool 'plan': ${where}: zod cannot describe it (Date cannot be represented in JSON Schema); use z.string() and convert it in the function, or in z.object({…}) z.string().pipe(z.coerce.date())`,
    )
  }
})

test('all options of a tool', async (t) => {
  const { tools, worker, instructions, protocol } = await ready(
    t,
    `import { tool, worker, instructions } from 'mcp-bash'
    worker({ processes: 1, atOnce: 8 })
    instructions('Be brief.')
    export const ignored = tool({
      name: 'sum-up', title: 'Sum up', description: 'Sums.', input: { a: 'number' }, output: { s: 'number' },
      annotations: { readOnlyHint: true }, timeoutSecs: 5, progressExtendsTimeout: true, maxTimeoutSecs: 50, timeoutHint: 'wait',
      icons: [{ src: 'data:x' }], meta: { a: 1 }, requires: ['sampling'], confirm: 'Sum {a}?', scopes: ['files:write'],
    }, () => ({ s: 1 }))`,
  )
  assert.equal(protocol, 1)
  assert.deepEqual(worker, { processes: 1, atOnce: 8 })
  assert.equal(instructions, 'Be brief.')
  assert.deepEqual(tools, [
    {
      name: 'sum-up',
      title: 'Sum up',
      description: 'Sums.',
      inputSchema: object({ a: { type: 'number' } }, ['a']),
      outputSchema: { type: 'object', properties: { s: { type: 'number' } }, required: ['s'] },
      annotations: { readOnlyHint: true },
      timeoutSecs: 5,
      progressExtendsTimeout: true,
      maxTimeoutSecs: 50,
      timeoutHint: 'wait',
      icons: [{ src: 'data:x' }],
      _meta: { a: 1 },
      requiredCapabilities: ['sampling'],
      confirm: 'Sum {a}?',
      scopes: ['files:write'],
    },
  ])
})

test('resources, templates and prompts', async (t) => {
  const { resources, templates, prompts } = await ready(
    t,
    `import { resource, prompt } from 'mcp-bash'
    export const config = resource('config://app', { title: 'Configuration', mimeType: 'application/json' }, () => ({}))
    export const profile = resource('users://{id}/profile', 'A profile.', ({ id }) => id)
    export const review = prompt('Reviews code.', { code: 'string - what to review', style: 'string?' }, ({ code }) => code)
    /** Greets. */
    export const greet = prompt(() => 'hello')`,
  )
  assert.deepEqual(resources, [
    { uri: 'config://app', name: 'config', title: 'Configuration', mimeType: 'application/json' },
  ])
  assert.deepEqual(templates, [
    { uriTemplate: 'users://{id}/profile', name: 'profile', description: 'A profile.' },
  ])
  assert.deepEqual(prompts, [
    {
      name: 'review',
      description: 'Reviews code.',
      arguments: [
        { name: 'code', description: 'what to review', required: true },
        { name: 'style', required: false },
      ],
    },
    { name: 'greet', description: 'Greets.', arguments: [] },
  ])
})

/** [the exports of a file, the names of its tools] */
const EXPORTS = [
  ["export default [tool({ name: 'a', input: {} }, () => 1), tool('x', {}, function b() {})]", ['a', 'b']],
  ["export default { a: tool('x', {}, () => 1), 'b-c': tool('x', {}, () => 1) }", ['a', 'b-c']],
  ["export default tool('x', {}, function only() {})", ['only']],
  ["const a = tool('x', {}, () => 1); export { a, a as again }", ['a']],
  ["export const a = tool('x', {}, () => 1), other = 5, f = () => { throw new Error('run') }", ['a']],
]

test('how tools are exported', async (t) => {
  for (const [written, names] of EXPORTS) {
    const { tools } = await ready(t, `import { tool } from 'mcp-bash'\n${written}`)
    assert.deepEqual(
      tools.map(({ name }) => name),
      names,
      written,
    )
  }
})

test('what a function may do', async (t) => {
  const { tools, resources, prompts, worker } = await ready(
    t,
    `import { prompt, resource, tool, worker } from 'mcp-bash'
    worker({ sandbox: 'strict' })
    export const a = tool({ description: 'x', input: {}, sandbox: { network: ['api.github.com:443'], cpuSecs: 5 } }, () => 1)
    export const b = resource('x://y', { sandbox: 'on' }, () => 1)
    export const c = prompt({ description: 'x', input: {}, sandbox: 'off' }, () => '')`,
  )
  assert.deepEqual(tools[0].sandbox, { network: ['api.github.com:443'], cpuSecs: 5 })
  assert.deepEqual([resources[0].sandbox, prompts[0].sandbox, worker], ['on', 'off', { sandbox: 'strict' }])
})

/** [the error, the expected message] */
const REFUSED = [
  [
    "export const a = tool('x', { a: 'strin' }, () => 1)",
    /^tools\/f\.mjs:2: TypeError: `a` cannot be read: 'strin'; write one of string, number/,
  ],
  ["export const a = tool('x', { a: { b: 7 } }, () => 1)", /`a\.b` cannot be read: 7/],
  ["export const a = tool('x', { a: [] }, () => 1)", /`a` cannot be read/],
  ["export const a = tool('x', 'string', () => 1)", /arguments are an object/],
  [
    "export const a = tool({ descripton: 'x' }, () => 1)",
    /tool\(\) knows no option `descripton`; there are name, title, description/,
  ],
  ["export const a = tool('x', {})", /tool\(\) ends with the function that does the work/],
  [
    "export const a = tool('x', {}, async function* () { yield 1 })",
    /^tools\/f\.mjs:2: TypeError: a generator cannot be a tool; return the whole result, and call progress\(\) on the way$/,
  ],
  ["export const a = resource('x://y', function* () { yield 1 })", /a generator cannot be a resource/],
  [
    'await new Promise(() => {})',
    /^tools\/f\.mjs:1: an `await` outside of all functions never ends, here or in a file that it imports; await something that ends, or move it into keep\(\) or/,
  ],
  [
    "const { x } = require('mcp-bash')",
    /^tools\/f\.mjs:2: this file is an ES module, which has no require\(\) and no exports; write `import \{ tool \} from 'mcp-bash'` and `export const NAME = tool\(…\)`$/,
  ],
  [
    "throw new TypeError('fetch failed', { cause: new Error('ENOTFOUND') })",
    /^tools\/f\.mjs:2: TypeError: fetch failed, caused by Error: ENOTFOUND$/,
  ],
  ['export const a = resource(5, () => 1)', /resource\(\) begins with a URI/],
  [
    "const a = tool('x', {}, () => 1)",
    /^tools\/f\.mjs:2: this tool is not exported: write `export const NAME = tool\(…\)`/,
  ],
  ["export default [tool('x', {}, () => 1)]", /^tools\/f\.mjs:2: this tool has no name/],
  [
    "export const a = tool('x', {}, () => 1)\nexport const b = tool({ name: 'a', input: {} }, () => 1)",
    /^tools\/f\.mjs:3: there are two of tool 'a'; the other is at tools\/f\.mjs:2/,
  ],
  [
    'export const a = tool({ input: {}, sandbox: { reads: [] } }, () => 1)',
    /^tools\/f\.mjs:2: TypeError: `sandbox` of tool\(\) knows no key `reads`; there are mode, read, write, network/,
  ],
  [
    "export const a = resource('x://y', { sandbox: ['on'] }, () => 1)",
    /`sandbox` of resource\(\) is 'off', 'on', 'strict' or an object, not \[/,
  ],
  ['worker({ sandbox: { cpuSec: 1 } })', /`sandbox` of worker\(\) knows no key `cpuSec`/],
  ['worker({ proceses: 1 })', /worker\(\) knows no option `proceses`/],
  ['export const a = 1 +* 2', /^tools\/f\.mjs:2: SyntaxError: /],
  [
    "import 'no-such-package/deep'",
    /Cannot find package 'no-such-package'.*; install it with: npm install no-such-package$/,
  ],
  ["import { nothing } from 'mcp-bash'", /nothing/],
  ['null.x', /^tools\/f\.mjs:2: TypeError: Cannot read properties of null/],
  ['throw undefined', /the file threw undefined while it was loaded/],
  ['process.exit(0)', /^tools\/f\.mjs:2: ExitRefused: process\.exit\(0\) would end the worker/],
]

test('what cannot be served is refused in one line', async (t) => {
  for (const [written, message] of REFUSED) {
    const told = await failure(t, `import { tool, resource, worker } from 'mcp-bash'\n${written}`)
    assert.match(told, message, written)
    assert.doesNotMatch(told, /\n/)
  }
})

test('reading definitions runs no handler', async (t) => {
  const { tools } = await ready(
    t,
    `import { tool, resource, prompt } from 'mcp-bash'
    const run = () => { process.kill(process.pid, 'SIGKILL') }
    export const a = tool('x', {}, run), b = resource('x://y', run), c = prompt('x', {}, run)`,
  )
  assert.equal(tools.length, 1)
})
