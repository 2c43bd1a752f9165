// The results for values that functions return and errors that they throw.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logs, start } from './host.mjs'

const text = (...texts) => ({ content: texts.map((one) => ({ type: 'text', text: one })) })
const PNG = 'iVBORw0KGgo='

/** [an expression, the result] */
const VALUES = [
  ["'hello'", text('hello')],
  ["''", text('')],
  ['3.5', text('3.5')],
  ['true', text('true')],
  ['null', { content: [] }],
  ['undefined', { content: [] }],
  ['{ a: 1 }', { ...text('{"a":1}'), structuredContent: { a: 1 } }],
  ['[1, 2]', text('[1,2]')],
  ['[]', text('[]')],
  ["['a', { b: 1 }]", text('["a",{"b":1}]')],
  ['new Map([["a", 1]])', { ...text('{"a":1}'), structuredContent: { a: 1 } }],
  ['new Set([1, 2])', text('[1,2]')],
  ['(function* () { yield 1; yield 2 })()', text('[1,2]')],
  ['Object.create({})', { ...text('{}'), structuredContent: {} }],
  ['new Date(0)', text('1970-01-01T00:00:00.000Z')],
  ['{ a: null, at: new Date(0) }', { ...text('{"a":null,"at":"1970-01-01T00:00:00.000Z"}'), structuredContent: { a: null, at: '1970-01-01T00:00:00.000Z' } }],
  ["Promise.resolve('later')", text('later')],
  [
    "Buffer.from('" + PNG + "', 'base64')",
    { content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] },
  ],
  [
    'new Uint8Array([1, 2])',
    {
      content: [
        {
          type: 'resource',
          resource: { uri: 'result:bytes', mimeType: 'application/octet-stream', blob: 'AQI=' },
        },
      ],
    },
  ],
  [
    "image(Buffer.from('x'), 'image/png')",
    { content: [{ type: 'image', data: 'eA==', mimeType: 'image/png' }] },
  ],
  [
    "image('data:image/gif;base64,eA==')",
    { content: [{ type: 'image', data: 'eA==', mimeType: 'image/gif' }] },
  ],
  ["image('p.svg')", { content: [{ type: 'image', data: 'PHN2Zy8+', mimeType: 'image/svg+xml' }] }],
  [
    "audio(new Uint8Array([1]), 'audio/wav')",
    { content: [{ type: 'audio', data: 'AQ==', mimeType: 'audio/wav' }] },
  ],
  [
    "embedded('note://1', 'hi', 'text/markdown')",
    { content: [{ type: 'resource', resource: { uri: 'note://1', mimeType: 'text/markdown', text: 'hi' } }] },
  ],
  [
    "embedded('note://2', { a: 1 })",
    {
      content: [
        { type: 'resource', resource: { uri: 'note://2', mimeType: 'application/json', text: '{"a":1}' } },
      ],
    },
  ],
  [
    "link('file:///a/b.txt', { title: 'B' })",
    { content: [{ type: 'resource_link', uri: 'file:///a/b.txt', name: 'b.txt', title: 'B' }] },
  ],
  [
    "text('x', { annotations: { priority: 1 }, meta: { m: 1 } })",
    { content: [{ type: 'text', text: 'x', annotations: { priority: 1 }, _meta: { m: 1 } }] },
  ],
  [
    "['see', image(Buffer.from('x'), 'image/png'), { a: 1 }, 5]",
    {
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', data: 'eA==', mimeType: 'image/png' },
        { type: 'text', text: '{"a":1}' },
        { type: 'text', text: '5' },
      ],
    },
  ],
  [
    "result({ content: 'short', structured: { long: 1 }, meta: { m: 1 } })",
    { ...text('short'), structuredContent: { long: 1 }, _meta: { m: 1 } },
  ],
  ['result({ structured: { a: 1 } })', { ...text('{"a":1}'), structuredContent: { a: 1 } }],
  ["result({ content: ['a', 'b'], isError: true })", { ...text('a', 'b'), isError: true }],
  ["{ content: [{ type: 'text', text: 'as the protocol has it' }] }", text('as the protocol has it')],
  // A custom object that resembles a result.
  [
    "{ content: ['chapter'], pages: 3 }",
    { ...text('{"content":["chapter"],"pages":3}'), structuredContent: { content: ['chapter'], pages: 3 } },
  ],
]

test('values as results', async (t) => {
  const lines = VALUES.map(([written], index) => `export const t${index} = tool('x', {}, () => (${written}))`)
  const host = await start(
    t,
    `import { tool, text, image, audio, embedded, link, result } from 'mcp-bash'\n${lines.join('\n')}`,
    {
      files: { 'p.svg': '<svg/>' },
    },
  )
  for (const [index, [written, expected]] of VALUES.entries()) {
    assert.deepEqual((await host.tool(`t${index}`)).result, expected, written)
  }
})

test('a file is embedded as what it is', async (t) => {
  const host = await start(
    t,
    `import { tool, embedded } from 'mcp-bash'\nexport const f = tool('x', { p: 'string' }, ({ p }) => embedded(p))`,
    {
      files: { 'a.md': '# A', 'b.bin': 'raw' },
    },
  )
  const { result } = await host.tool('f', { p: 'a.md' })
  assert.deepEqual(result.content[0].resource, {
    uri: `file://${host.root}/a.md`,
    mimeType: 'text/markdown',
    text: '# A',
  })
  const other = (await host.tool('f', { p: 'b.bin' })).result
  assert.deepEqual(other.content[0].resource, {
    uri: `file://${host.root}/b.bin`,
    mimeType: 'application/octet-stream',
    blob: 'cmF3',
  })
})

/** [an output schema, a value, the structured content] */
const STRUCTURED = [
  ["'number'", '5', { result: 5 }],
  ["'string'", "'x'", { result: 'x' }],
  ["'string[]'", "['x']", { result: ['x'] }],
  ["'string|null'", 'null', { result: null }],
  ["{ a: 'number' }", '({ a: 1 })', { a: 1 }],
  ["{ anyOf: [{ type: 'object' }, { type: 'null' }] }", '({ a: 1 })', { result: { a: 1 } }],
]

test('values that are no objects are wrapped where the result is declared', async (t) => {
  const lines = STRUCTURED.map(
    ([output, value], index) =>
      `export const t${index} = tool({ input: {}, output: ${output} }, () => ${value})`,
  )
  const host = await start(t, `import { tool } from 'mcp-bash'\n${lines.join('\n')}`)
  for (const [index, [output, , structured]] of STRUCTURED.entries()) {
    assert.deepEqual((await host.tool(`t${index}`)).result.structuredContent, structured, output)
  }
})

/** [the code, the message for the model] */
const FAILURES = [
  ["throw new ToolError('There is no user 7')", 'There is no user 7'],
  [
    "throw new ToolError('There is no user 7', { hint: 'list_users knows them all' })",
    'There is no user 7. Hint: list_users knows them all',
  ],
  ["throw new Error('broken')", 'Error: broken (tools/f.mjs:3)'],
  ['null.x', "TypeError: Cannot read properties of null (reading 'x') (tools/f.mjs:4)"],
  ["throw 'a string'", "the function threw 'a string'"],
  ['throw undefined', 'the function threw undefined'],
  ['throw null', 'the function threw null'],
  ['throw { code: 5 }', 'the function threw { code: 5 }'],
  ["throw new Error('two\\nlines')", 'Error: two lines (tools/f.mjs:9)'],
  ["throw new Error('')", 'Error: Error without a message (tools/f.mjs:10)'],
  ["JSON.parse('{')", /^SyntaxError: .* \(tools\/f\.mjs:11\)$/],
  ["await import('../lib/deep.mjs').then(({ deep }) => deep())", 'RangeError: deep (lib/deep.mjs:1)'],
  ['return 10n', 'the result cannot be written as JSON: it is a BigInt; use String() or Number() on it'],
  [
    'return { rows: [{ id: 1n }] }',
    'the result cannot be written as JSON: result.rows[0].id is a BigInt; use String() or Number() on it',
  ],
  ['const a = {}; a.b = { a }; return a', 'the result cannot be written as JSON: result.b.a contains itself'],
  ['return () => 1', 'the result cannot be written as JSON: it is a function'],
  ["return { toJSON() { throw new Error('no') } }", 'the result cannot be written as JSON: no'],
  ["return new Error('returned')", 'Error: returned (tools/f.mjs:18)'],
  [
    'return new Response("x")',
    'the result is a Response, of which JSON shows nothing: return what is in it, as plain values',
  ],
  [
    'return image({})',
    /^TypeError: image\(\) needs bytes or the path of a file, not \{\} \(tools\/f\.mjs:20\)$/,
  ],
  ["return image(Buffer.from('x'))", /the type of this image is not known: give it/],
  // Causes.
  [
    "throw new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND nowhere') })",
    'TypeError: fetch failed, caused by Error: getaddrinfo ENOTFOUND nowhere (tools/f.mjs:22)',
  ],
  [
    "throw new Error('a', { cause: new Error('b', { cause: Object.assign(new AggregateError([new Error('one'), 2, 3]), { code: 'ECONNREFUSED' }) }) })",
    'Error: a, caused by AggregateError: ECONNREFUSED: Error: one (and 2 more) (tools/f.mjs:23)',
  ],
  [
    "await Promise.any([Promise.reject(new Error('one')), Promise.reject(2)])",
    'AggregateError: All promises were rejected: Error: one (and 1 more)',
  ],
  ["const e = new Error('round'); e.cause = e; throw e", 'Error: round (tools/f.mjs:25)'],
  ["throw new Error('x', { cause: { status: 404 } })", 'Error: x, caused by { status: 404 } (tools/f.mjs:26)'],
  ["throw new Error('x', { cause: 'y'.repeat(9999) })", /^Error: x, caused by y{480,500}… \(tools\/f\.mjs:27\)$/],
  ["throw new ToolError('meant', { cause: new Error('inside') })", 'meant'],
  // Values that JSON would turn into null, or worse.
  ['return NaN', 'the result cannot be written as JSON: it is NaN, which JSON cannot express; use null or a text'],
  [
    'return { a: [1, -Infinity] }',
    'the result cannot be written as JSON: result.a[1] is -Infinity, which JSON cannot express; use null or a text',
  ],
  ["return [null, new Date('no')]", 'the result cannot be written as JSON: result[1] is an invalid Date'],
  ["return new Date('no')", 'the result cannot be written as JSON: it is an invalid Date'],
  ['return new Map([["a", NaN]])', /result\.a is NaN/],
  [
    "return createReadStream('/dev/null')",
    "the result is a ReadStream, which is not read yet: return `await text(…)` or `await buffer(…)` of it, both of 'node:stream/consumers'",
  ],
  ['return { body: Readable.from([1]) }', /^the result cannot be written as JSON: result\.body is a Readable, which is not/],
  ['return new ReadableStream({})', /^the result is a ReadableStream, which is not read yet/],
  [
    'return (async function* () { yield 1 })()',
    'the result is read step by step (for await): collect what it gives into an array, and return that',
  ],
]

const FAILURE_IMPORTS =
  "import { tool, ToolError, image } from 'mcp-bash'; import { Readable } from 'node:stream'; import { createReadStream } from 'node:fs'"

test('failures as results', async (t) => {
  const lines = FAILURES.map(
    ([written], index) => `export const t${index} = tool('x', {}, async () => { ${written} })`,
  )
  // The first one is in line 1, so that the line numbers are those of the table.
  const host = await start(t, `${FAILURE_IMPORTS}; ${lines.join('\n')}`, {
    files: { 'lib/deep.mjs': "export function deep() { throw new RangeError('deep') }" },
  })
  for (const [index, [written, expected]] of FAILURES.entries()) {
    const told = await host.errorText(`t${index}`)
    if (typeof expected === 'string') assert.equal(told, expected, written)
    else assert.match(told, expected, written)
  }
})

test('details of an error are structured, unless the result has a declared shape', async (t) => {
  const host = await start(
    t,
    `import { tool, ToolError } from 'mcp-bash'
    const fail = () => { throw new ToolError('no', { type: 'not_found', id: 7 }) }
    export const free = tool('x', {}, fail)
    export const shaped = tool({ input: {}, output: { a: 'number' } }, () => fail())
    export const wild = tool('x', {}, () => { throw new ToolError('no', { id: 7n }) })
    export const nan = tool('x', {}, () => { throw new ToolError('no', { id: NaN }) })`,
  )
  const { result } = await host.tool('free')
  assert.deepEqual(result.structuredContent, {
    success: false,
    error: { type: 'not_found', message: 'no', data: { id: 7 } },
  })
  const shaped = (await host.tool('shaped')).result
  assert.equal(shaped.structuredContent, undefined)
  assert.deepEqual(shaped._meta, { 'mcpbash/error': result.structuredContent.error })
  assert.equal(await host.errorText('wild'), 'no')
  assert.deepEqual((await host.tool('nan')).result.structuredContent.error.data, { id: null })
})

test('the trace of an unexpected error is in the log, that of a meant one is not', async (t) => {
  const host = await start(
    t,
    `import { tool, ToolError } from 'mcp-bash'
    export const bad = tool('x', {}, () => { throw new Error('broken', { cause: new Error('the reason') }) })
    export const meant = tool('x', {}, () => { throw new ToolError('no') })`,
  )
  const [[level, trace]] = logs((await host.tool('bad')).notes)
  assert.equal(level, 'error')
  assert.doesNotMatch(trace, /lib\/worker|node:internal/)
  assert.match(trace, /Error: broken\n.*at .*f\.mjs:2[^]*the reason/)
  assert.deepEqual((await host.tool('meant')).notes, [])
})

test('errors of the protocol', async (t) => {
  const host = await start(
    t,
    `import { tool, ProtocolError, NotFound, resource, ToolError } from 'mcp-bash'
    export const f = tool('x', {}, () => { throw new ProtocolError(-32602, 'from must be before to', { from: 1 }) })
    export const none = resource('x://none', () => { throw new NotFound('no such note', { id: 1 }) })
    export const r = resource('x://y', () => { throw new ToolError('gone', { id: 1 }) })`,
  )
  assert.deepEqual((await host.tool('f')).error, {
    code: -32602,
    message: 'from must be before to',
    data: { from: 1 },
  })
  const { end } = await host.untilEnd(host.call({ resource: 'x://y', name: 'r' }))
  assert.deepEqual(end.error, {
    code: -32603,
    message: 'gone',
    data: { type: 'error', message: 'gone', data: { id: 1 } },
  })
  const { end: none } = await host.untilEnd(host.call({ resource: 'x://none', name: 'none' }))
  assert.deepEqual(none.error, { code: -32002, message: 'no such note', data: { id: 1 } })
  assert.deepEqual((await host.tool('nothing')).error, {
    code: -32602,
    message: "this file has no 'nothing'",
  })
})

test('resources', async (t) => {
  const host = await start(
    t,
    `import { resource, embedded } from 'mcp-bash'
    export const plain = resource('a://plain', () => 'text')
    export const json = resource('a://json', async () => ({ a: 1 }))
    export const bytes = resource('a://bytes', { mimeType: 'application/x-thing' }, () => Buffer.from('x'))
    export const user = resource('users://{id}/profile', ({ id }, { name }) => ({ id, name }))
    export const whole = resource('a://whole', () => ({ contents: [{ uri: 'a://b', text: 'b' }] }))
    export const several = resource('a://several', () => [embedded('a://1', 'one'), embedded('a://2', 'two')])
    export const none = resource('a://none', () => {})
    export const lost = resource('a://lost', () => ({ n: NaN }))
    export const stream = resource('a://stream', () => new ReadableStream({}))`,
  )
  const read = async (name, uri, variables) =>
    (await host.untilEnd(host.call({ resource: uri, name, arguments: variables }))).end
  const contents = async (...parameters) => (await read(...parameters)).result.contents
  assert.deepEqual(await contents('plain', 'a://plain'), [
    { uri: 'a://plain', mimeType: 'text/plain', text: 'text' },
  ])
  assert.deepEqual(await contents('json', 'a://json'), [
    { uri: 'a://json', mimeType: 'application/json', text: '{"a":1}' },
  ])
  assert.deepEqual(await contents('bytes', 'a://bytes'), [
    { uri: 'a://bytes', mimeType: 'application/x-thing', blob: 'eA==' },
  ])
  assert.deepEqual(await contents('user', 'users://7/profile', { id: '7' }), [
    { uri: 'users://7/profile', mimeType: 'application/json', text: '{"id":"7","name":"user"}' },
  ])
  assert.deepEqual(await contents('whole', 'a://whole'), [{ uri: 'a://b', text: 'b' }])
  assert.equal((await contents('several', 'a://several')).length, 2)
  assert.match((await read('none', 'a://none')).error.message, /returned nothing/)
  assert.match((await read('lost', 'a://lost')).error.message, /result\.n is NaN/)
  assert.match((await read('stream', 'a://stream')).error.message, /is a ReadableStream, which is not read yet/)
})

test('prompts', async (t) => {
  const host = await start(
    t,
    `import { prompt, user, assistant, image } from 'mcp-bash'
    export const plain = prompt('Says.', { code: 'string' }, ({ code }) => 'Review ' + code)
    export const talk = prompt('', {}, () => [user('hi'), assistant('hello'), 'and?', user(image(Buffer.from('x'), 'image/png'))])
    export const raw = prompt('', {}, () => [{ role: 'user', content: { type: 'text', text: 'raw' } }, { role: 'assistant', content: 'short' }])
    export const whole = prompt('', {}, () => ({ description: 'Mine', messages: ['x'] }))`,
  )
  const get = async (prompt, parameters) =>
    (await host.untilEnd(host.call({ prompt, arguments: parameters }))).end.result
  const message = (role, words) => ({ role, content: { type: 'text', text: words } })
  assert.deepEqual(await get('plain', { code: 'x' }), {
    description: 'Says.',
    messages: [message('user', 'Review x')],
  })
  assert.deepEqual((await get('talk')).messages, [
    message('user', 'hi'),
    message('assistant', 'hello'),
    message('user', 'and?'),
    { role: 'user', content: { type: 'image', data: 'eA==', mimeType: 'image/png' } },
  ])
  assert.deepEqual((await get('raw')).messages, [message('user', 'raw'), message('assistant', 'short')])
  assert.deepEqual(await get('whole'), { description: 'Mine', messages: [message('user', 'x')] })
})
