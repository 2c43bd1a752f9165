// Plain scripts: one process per call, with everything in the environment.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { openSync, readFileSync, readSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { SDK, project } from './host.mjs'

const IMPORT = 'const sdk = await import(process.env.MCP_SDK_NODE)\n'

/** Runs a script as the server does: { stdout, stderr, code, root }. */
function script(t, source, env = {}, files = {}) {
  const root = project(t, { 'tool.mjs': IMPORT + source, ...files })
  return run(root, env)
}

function run(root, env, onStart) {
  const child = spawn(process.execPath, ['tool.mjs'], {
    cwd: root,
    env: { PATH: process.env.PATH, MCP_SDK_NODE: join(SDK, 'index.mjs'), MCP_TOOL_NAME: 'mine', ...env },
  })
  const out = { stdout: '', stderr: '', root }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => {
      out[name] += text
    })
  onStart?.(child)
  return new Promise((resolve) => child.once('close', (code) => resolve({ ...out, code })))
}

test('arguments and a result', async (t) => {
  const source = 'const { args, answer } = sdk\nanswer({ sum: args.a + args.b })'
  const expected = { content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } }
  assert.deepEqual(
    JSON.parse((await script(t, source, { MCP_TOOL_ARGS_JSON: '{"a":1,"b":2}' })).stdout),
    expected,
  )
  const { stdout } = await script(
    t,
    source,
    { MCP_TOOL_ARGS_FILE: 'args.json' },
    { 'args.json': '{"a":1,"b":2}' },
  )
  assert.deepEqual(JSON.parse(stdout), expected)
  assert.deepEqual((await script(t, 'console.log(JSON.stringify(sdk.args))')).stdout, '{}\n')
})

test('main: what is returned is the result, what is printed is not', async (t) => {
  const { stdout, stderr, code } = await script(
    t,
    "await sdk.main(async ({ a }, { progress }) => { console.log('chatter'); await sdk.keep(() => 1, () => process.stderr.write('closed'))(); progress(1); return `got ${a}` })",
    { MCP_TOOL_ARGS_JSON: '{"a":1}', MCP_LOG_STREAM: 'log' },
  )
  assert.deepEqual(JSON.parse(stdout), { content: [{ type: 'text', text: 'got 1' }] })
  assert.equal(code, 0)
  assert.equal(stderr, 'closed', 'what it keeps is ended')
})

test('half an emoji is no text', async (t) => {
  const { stdout, root } = await script(t, "sdk.log.info('😀'.slice(0, 1)); sdk.answer('ab😀'.slice(0, 3))", {
    MCP_LOG_STREAM: 'log',
  }, { log: '' })
  assert.equal(stdout, '{"content":[{"type":"text","text":"ab\ufffd"}]}\n')
  assert.equal(JSON.parse(readFileSync(join(root, 'log'), 'utf8')).params.data, '\ufffd')
})

test('main: failures', async (t) => {
  const failed = await script(t, "await sdk.main(() => { throw new Error('broken') })")
  assert.deepEqual(JSON.parse(failed.stdout), {
    content: [{ type: 'text', text: 'Error: broken (tool.mjs:2)' }],
    structuredContent: { success: false, error: { type: 'Error', message: 'Error: broken (tool.mjs:2)' } },
    isError: true,
  })
  assert.match(failed.stderr, /Error: broken\n.*at /)
  const refused = await script(
    t,
    "await sdk.main(() => { throw new sdk.ProtocolError(-32602, 'no', { a: 1 }) })",
    { MCP_TOOL_ERROR_FILE: 'error' },
  )
  assert.equal(refused.code, 1)
  assert.deepEqual(JSON.parse(readFileSync(join(refused.root, 'error'), 'utf8')), {
    code: -32602,
    message: 'no',
    data: { a: 1 },
  })
  const meant = await script(t, "await sdk.main(() => { throw new sdk.ToolError('no', { hint: 'yes' }) })")
  assert.equal(JSON.parse(meant.stdout).content[0].text, 'no. Hint: yes')
})

test('progress and logs go through the pipe, in lines that it takes in one piece', async (t) => {
  const root = project(t, {
    'tool.mjs': `${IMPORT}const { progress, log } = sdk
      progress(1, 2, 'half'); log.info({ a: 1 }); log.warning('ä'.repeat(10000)); log.error({ long: 'x'.repeat(10000) }); sdk.answer('done')`,
  })
  execFileSync('mkfifo', [join(root, 'pipe')])
  const pipe = openSync(join(root, 'pipe'), 'r+')
  await run(root, { MCP_PROGRESS_STREAM: 'pipe', MCP_PROGRESS_TOKEN: 't', MCP_LOG_STREAM: 'pipe' })
  const buffer = Buffer.alloc(65536)
  const lines = buffer.toString('utf8', 0, readSync(pipe, buffer)).trimEnd().split('\n')
  assert.ok(lines.every((line) => Buffer.byteLength(line) < 4096))
  const [first, second, third, fourth] = lines.map((line) => JSON.parse(line))
  assert.deepEqual(first, {
    method: 'notifications/progress',
    params: { progress: 1, total: 2, message: 'half' },
  })
  assert.deepEqual(second, {
    method: 'notifications/message',
    params: { level: 'info', logger: 'mine', data: { a: 1 } },
  })
  assert.match(third.params.data, /^ä+… \[cut: 10000 characters in all\]$/)
  assert.match(fourth.params.data, /^\{"long":"x+… \[cut/)
})

test('questions go through the socket', async (t) => {
  const root = project(t, {
    'tool.mjs': `${IMPORT}const { ask, sample, confirm, answer } = sdk
      const { name } = await ask('Who?', { name: 'string' }, { timeoutSecs: 9 })
      const refused = await ask('Again?', {}).catch((error) => error.constructor.name)
      const { text } = await sample('Hi')
      answer([name, refused, text].join())`,
  })
  const asked = []
  const replies = [
    { result: { action: 'accept', content: { name: 'Ada' } } },
    { result: { action: 'decline' } },
    { result: { content: { type: 'text', text: 'hello' } } },
  ]
  const server = createServer((socket) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (piece) => {
      text += piece
      const [key, question, rest] = text.split('\n')
      if (rest === undefined) return
      asked.push([key, JSON.parse(question)])
      socket.end(`${JSON.stringify(replies[asked.length - 1])}\n`)
    })
  })
  await new Promise((resolve) => server.listen(join(root, 'socket'), resolve))
  const { stdout } = await run(root, {
    MCP_ASK_SOCKET: 'socket',
    MCP_ASK_KEY: 'secret',
    MCP_ELICIT_SUPPORTED: '1',
  })
  server.close()
  assert.equal(JSON.parse(stdout).content[0].text, 'Ada,Declined,hello')
  assert.equal(asked[0][0], 'secret')
  assert.equal(asked[0][1].timeoutSecs, 9)
  assert.equal(asked[2][1].method, 'sampling/createMessage')
})

test('roots that the client is asked for', async (t) => {
  const root = project(t, { 'tool.mjs': `${IMPORT}sdk.answer(await sdk.askInsideRoots('/theirs/x'))` })
  let asked
  const server = createServer((socket) =>
    socket.setEncoding('utf8').once('data', (text) => {
      asked = JSON.parse(text.split('\n')[1])
      socket.end('{"result":{"roots":[{"uri":"file:///theirs","path":"/theirs"}]}}\n')
    }),
  )
  await new Promise((resolve) => server.listen(join(root, 'socket'), resolve))
  const { stdout } = await run(root, {
    MCP_ASK_SOCKET: 'socket',
    MCP_ASK_KEY: 'k',
    MCP_ROOTS_ASK: '1',
    MCP_ROOTS_JSON: '[{"uri":"file:///own","path":"/own"}]',
  })
  server.close()
  assert.equal(JSON.parse(stdout).content[0].text, '/theirs/x')
  assert.deepEqual(asked, { method: 'roots/list' })
})

test('a question is withdrawn by hanging up', async (t) => {
  const root = project(t, {
    'tool.mjs': `${IMPORT}const stop = new AbortController()
      setTimeout(() => stop.abort(new Error('enough')), 100)
      sdk.answer(await sdk.ask('Who?', {}, { signal: stop.signal }).catch((error) => error.message))`,
  })
  let hungUp
  const server = createServer((socket) => {
    hungUp = new Promise((resolve) =>
      socket
        .on('error', () => {})
        .resume()
        .once('close', resolve),
    )
  })
  await new Promise((resolve) => server.listen(join(root, 'socket'), resolve))
  const { stdout } = await run(root, {
    MCP_ASK_SOCKET: 'socket',
    MCP_ASK_KEY: 'k',
    MCP_ELICIT_SUPPORTED: '1',
  })
  assert.equal(JSON.parse(stdout).content[0].text, 'enough')
  await hungUp
  server.close()
})

test('nobody to ask, nobody to tell', async (t) => {
  const { stdout } = await script(
    t,
    "sdk.progress(1); sdk.log.info('x'); sdk.answer(await sdk.ask('x', {}).catch((error) => error.message))",
  )
  assert.equal(JSON.parse(stdout).content[0].text, 'this client cannot be asked')
})

test('roots, _meta and the folder of the call', async (t) => {
  const { stdout } = await script(
    t,
    'sdk.answer({ roots: sdk.roots(), meta: sdk.meta(), folder: sdk.folder() })',
    {
      MCP_ROOTS_JSON: '[{"uri":"file:///x","path":"/x"}]',
      MCP_TOOL_META_JSON: '{"tenant":7}',
      MCP_CANCEL_FILE: '/tmp/of-call/cancel',
    },
  )
  assert.deepEqual(JSON.parse(stdout).structuredContent, {
    roots: [{ uri: 'file:///x', path: '/x' }],
    meta: { tenant: 7 },
    folder: '/tmp/of-call',
  })
})

test('TERM aborts the signal', async (t) => {
  const root = project(t, {
    'tool.mjs': `${IMPORT}await sdk.main(async (_, { signal }) => {
        const stopped = new Promise((resolve) => { signal.onabort = () => resolve(signal.reason.name) })
        process.stderr.write('waiting')
        const alive = setInterval(() => {}, 1000)
        try { return await stopped } finally { clearInterval(alive) }
      })`,
  })
  const { stdout } = await run(root, {}, (child) => child.stderr.once('data', () => child.kill('SIGTERM')))
  assert.equal(JSON.parse(stdout).content[0].text, 'Cancelled')
})

test('a large result arrives whole', async (t) => {
  const { stdout } = await script(t, "sdk.answer('x'.repeat(3_000_000))")
  assert.equal(JSON.parse(stdout).content[0].text.length, 3_000_000)
})
