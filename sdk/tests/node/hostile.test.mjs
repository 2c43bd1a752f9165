// Functions that misbehave. Each call is answered once, and the next one is served.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { start } from './host.mjs'

/** [the function's code, the answer to its call] */
const HOSTILE = [
  [
    'process.exit(3)',
    /^ExitRefused: process\.exit\(3\) would end the worker: return a result or throw an error instead \(tools\/f\.mjs:\d+\)$/,
  ],
  ['process.exitCode = 4; process.exit()', /process\.exit\(4\) would end the worker/],
  ['await new Promise(() => setTimeout(() => process.exit(1), 1))', /process\.exit\(1\)/],
  [
    "await new Promise(() => setTimeout(() => { throw new Error('in a timer') }, 1))",
    /^Error: in a timer \(tools\/f\.mjs:\d+\)$/,
  ],
  ["await new Promise(() => process.nextTick(() => { throw new Error('in a tick') }))", /^Error: in a tick/],
  ["await new Promise(() => { new EventEmitter().emit('error', new Error('emitted')) })", /^Error: emitted/],
  [
    "await new Promise(() => setImmediate(() => new EventEmitter().emit('error', new Error('emitted'))))",
    /^Error: emitted/,
  ],
  ["Promise.reject(new Error('stray')); await new Promise(() => {})", /^Error: stray/],
  [
    '(async () => { await 1; throw undefined })(); await new Promise(() => {})',
    /^the function threw undefined$/,
  ],
  ['await new Promise(() => setTimeout(() => { throw null }, 1))', /^the function threw null$/],
  ['throw undefined', /^the function threw undefined$/],
  ['throw Object.create(null)', /^the function threw /],
  [
    "throw new Proxy({}, { get() { throw new Error('hidden') }, getPrototypeOf() { throw new Error('hidden') } })",
    /^the function threw something that cannot be shown$/,
  ],
  [
    "const error = new Error('x'); Object.defineProperty(error, 'message', { get() { throw new Error('y') } }); throw error",
    /cannot be shown/,
  ],
  ["return { then() { throw new Error('thenable') } }", /^Error: thenable/],
  ["return { get a() { throw new Error('getter') } }", /cannot be written as JSON: getter/],
  ['const f = () => f(); f()', /^RangeError: Maximum call stack size exceeded/],
  [
    "Error.prepareStackTrace = () => 'none'; try { null.x } finally { setImmediate(() => { Error.prepareStackTrace = undefined }) }",
    /^TypeError: Cannot read/,
  ],
  [
    "JSON.stringify = () => { throw new Error('broken') }; throw new Error('after that')",
    /^Error: after that/,
  ],
  ["JSON.stringify = () => 'rubbish\\n'; return { a: 1 }", undefined],
  ["process.stdout.write = null; return 'x'", undefined],
  ["console.log = null; return 'x'", undefined],
  ["process.emit('SIGUSR2'); return 'x'", undefined],
  ["writeSync(1, 'straight to fd 1\\n'); writeSync(3, 'rubbish on fd 3\\n'); return 'x'", undefined],
  ["closeSync(1); closeSync(2); closeSync(3); console.log('nowhere'); return 'x'", undefined],
  ["closeSync(0); return 'x'", undefined],
  ["return 'read: ' + readFileSync(0).length", undefined],
  ["let n = 0; for await (const piece of process.stdin) n += piece.length; return 'stdin: ' + n", undefined],
  ["process.stdin.destroy(); return 'x'", undefined],
  ["process.removeAllListeners('uncaughtException'); return 'x'", undefined],
  ["globalThis.Promise = null; globalThis.setTimeout = null; return 'x'", undefined],
  [
    "Object.prototype.tool = 'x'; setImmediate(() => { delete Object.prototype.tool }); return 'x'",
    undefined,
  ],
]

for (const [written, message] of HOSTILE) {
  test(`hostile: ${written}`, async (t) => {
    const host = await start(
      t,
      `import { tool } from 'mcp-bash'
      import { EventEmitter } from 'node:events'
      import { closeSync, readFileSync, writeSync } from 'node:fs'
      export const f = tool('x', {}, async () => { ${written} })
      export const next = tool('x', {}, () => 'next')`,
    )
    const call = host.call({ tool: 'f' })
    const { end } = await host.untilEnd(call)
    if (message) assert.match(end.result.content[0].text, message)
    else assert.ok(end.result && !end.result.isError, JSON.stringify(end))
    const { end: after, notes } = await host.untilEnd(host.call({ tool: 'next' }))
    assert.equal(after.result.content[0].text, 'next')
    assert.ok(
      notes.every((frame) => frame.call !== call),
      'the call was answered twice',
    )
  })
}

test('a result of 10 MB', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    export const large = tool('x', {}, () => 'ä'.repeat(5_000_000))`,
  )
  assert.equal((await host.text('large')).length, 5_000_000)
})

test('arguments of 10 MB', async (t) => {
  // The host's pipe blocks, so the worker has to read while the host writes: through sockets.
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    export const length = tool('x', { s: 'string' }, ({ s }) => s.length)`,
    { sockets: true },
  )
  assert.equal(await host.text('length', { s: 'ü'.repeat(5_000_000) }), '5000000')
})

test('sockets instead of pipes do as well', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    export const f = tool('x', {}, async () => { let n = 0; for await (const piece of process.stdin) n += piece.length; return String(n) })`,
    { sockets: true },
  )
  assert.equal(await host.text('f'), '0')
  host.endInput()
  assert.equal(await host.exit, 0)
})

test('rubbish from the server is passed over', async (t) => {
  const host = await start(t, `import { tool } from 'mcp-bash'\nexport const f = tool('x', {}, () => 'fine')`)
  for (const line of [
    '',
    'rubbish',
    '[]',
    'null',
    '5',
    '{}',
    '{"call":77}',
    '{"cancel":78}',
    '{"call":79,"answer":1,"result":{}}',
    '{"hello":1}',
  ])
    host.send(line)
  assert.equal(await host.text('f'), 'fine')
})

test('an error of what the file keeps ends the worker, after all open calls are answered', async (t) => {
  const host = await start(
    t,
    `import { tool, keep, log } from 'mcp-bash'
    import { EventEmitter } from 'node:events'
    const db = keep(() => { const db = new EventEmitter(); setTimeout(() => db.emit('error', new Error('connection lost')), 20); return db }, () => console.log('closed'))
    export const f = tool('x', {}, async () => { await db(); await new Promise(() => {}) })`,
  )
  const call = host.call({ tool: 'f' })
  const { end } = await host.untilEnd(call)
  assert.match(end.result.content[0].text, /what the file keeps has failed: Error: connection lost/)
  assert.equal(await host.exit, 1)
})

test('process.exit() outside of calls ends the worker, after all open calls are answered', async (t) => {
  const host = await start(
    t,
    `import { tool, keep } from 'mcp-bash'
    import { writeFileSync } from 'node:fs'
    const db = keep(() => 1, () => writeFileSync('closed', ''))
    process.on('SIGUSR2', () => process.exit(3))
    export const f = tool('x', {}, async (_, { log }) => { await db(); log.info('started'); await new Promise(() => {}) })`,
  )
  const call = host.call({ tool: 'f' })
  await host.next()
  host.signal('SIGUSR2')
  assert.equal((await host.untilEnd(call)).end.result.content[0].text, 'the worker is being ended')
  assert.equal(await host.exit, 3)
  assert.ok(existsSync(join(host.root, 'closed')), 'what it keeps was closed')
})

test('printing outside of calls survives a closed standard output', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { closeSync } from 'node:fs'
    export const f = tool('x', {}, () => { closeSync(1); closeSync(2); setTimeout(() => { console.log('a'); console.error('b') }, 5); return 'x' })
    export const g = tool('x', {}, () => new Promise((resolve) => setTimeout(resolve, 30, 'still here')))`,
  )
  await host.text('f')
  assert.equal(await host.text('g'), 'still here')
})

test('an error that a call leaves behind is told, and the worker lives on', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    export const f = tool('x', {}, () => { setTimeout(() => { throw new Error('behind') }, 20); return 'x' })
    export const wait = tool('x', {}, () => new Promise((resolve) => setTimeout(resolve, 60, 'waited')))`,
  )
  await host.text('f')
  const { notes, result } = await host.tool('wait')
  assert.equal(result.content[0].text, 'waited')
  assert.ok(
    notes.some(
      ({ call, params }) => call === undefined && /left behind by f: Error: behind/.test(params.data),
    ),
  )
})

test('a function that dies takes the worker with it, unanswered', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    export const f = tool('x', {}, () => process.kill(process.pid, 'SIGKILL'))`,
  )
  host.call({ tool: 'f' })
  assert.equal(await host.next(), undefined)
  assert.equal(await host.exit, 'SIGKILL')
})
