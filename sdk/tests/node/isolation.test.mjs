// One call's changes are not visible to the next.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logs, start } from './host.mjs'

test('environment, working folder, umask and listeners are put back', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { execSync } from 'node:child_process'
    const state = () => ({
      env: [process.env.SECRET, process.env.GIVEN, process.env.WHOLE, process.env.TAKEN], cwd: process.cwd(), umask: process.umask(),
      listeners: ['SIGINT', 'SIGHUP', 'warning', 'mine'].map((event) => process.listenerCount(event)),
      child: execSync('echo "$SECRET,$GIVEN,$TAKEN"').toString().trim(),
    })
    export const look = tool('x', {}, state)
    export const change = tool('x', {}, () => {
      process.env.SECRET = 'of this call'
      process.env.GIVEN = 'other'
      delete process.env.TAKEN
      Object.defineProperty(process.env, 'WHOLE', { value: 'x', configurable: true, enumerable: true, writable: true })
      process.chdir('/')
      process.umask(0o77)
      for (const event of ['SIGINT', 'SIGHUP', 'warning', 'mine']) process.on(event, () => {})
      return state()
    })
    export const replace = tool('x', {}, () => { process.env = { SECRET: 'whole' }; return process.env.SECRET })
    export const deaf = tool('x', {}, () => { process.removeAllListeners(); return 'deaf' })`,
    { env: { GIVEN: 'given', TAKEN: 'taken' } },
  )
  const look = async () => (await host.tool('look')).result.structuredContent
  const before = await look()
  assert.equal(before.child, ',given,taken')
  const changed = (await host.tool('change')).result.structuredContent
  assert.equal(changed.child, 'of this call,other,')
  assert.deepEqual(await look(), before)
  assert.equal(await host.text('replace'), 'whole')
  assert.deepEqual(await look(), before)
  assert.equal(await host.text('deaf'), 'deaf')
  // A call is answered before the state is restored, and the next one starts after it.
  assert.deepEqual(await look(), before)
  host.signal('SIGTERM')
  assert.equal(await host.exit, 0, 'our own listener is back')
})

test('a working folder that is gone is left', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { mkdtempSync, rmdirSync } from 'node:fs'
    export const lost = tool('x', {}, () => { const dir = mkdtempSync('gone-'); process.chdir(dir); rmdirSync('../' + dir); return 'lost' })
    export const where = tool('x', {}, () => process.cwd())`,
  )
  assert.equal(await host.text('lost'), 'lost')
  assert.equal(await host.text('where'), host.root)
})

test('what opening a kept thing changes stays', async (t) => {
  const host = await start(
    t,
    `import { tool, keep } from 'mcp-bash'
    const db = keep(async () => { await null; process.env.FROM_KEPT = 'stays'; process.on('SIGINT', () => {}); return {} })
    export const open = tool('x', {}, async () => { process.env.OF_CALL = 'x'; await db(); return 'open' })
    export const look = tool('x', {}, () => [process.env.FROM_KEPT, process.env.OF_CALL, process.listenerCount('SIGINT')].join())`,
  )
  assert.equal(await host.text('open'), 'open')
  assert.equal(await host.text('look'), 'stays,,1')
})

test('work that a call leaves behind speaks to the operator only', async (t) => {
  const host = await start(
    t,
    `import { tool, log, progress, ask } from 'mcp-bash'
    let late
    export const leaves = tool('x', {}, () => {
      late = new Promise((resolve) => setTimeout(() => {
        console.log('left behind'); log.info('left log'); progress(9)
        resolve(ask('still there?', {}).catch((error) => error.message))
      }, 50))
      return 'left'
    })
    export const waits = tool('x', {}, async () => { const said = await late; console.log('mine'); return said })`,
  )
  await host.text('leaves', {}, { elicit: true, progress: true })
  const { notes, result } = await host.tool('waits', {}, { elicit: true, progress: true })
  const own = notes.filter(({ call }) => call !== undefined)
  assert.deepEqual(logs(own), [['info', 'mine']])
  assert.equal(result.content[0].text, 'no call is being served here, or it has ended: nobody can be asked')
  assert.match(host.stdout, /left behind/)
})

test('timers and servers that a call leaves are told of, once', async (t) => {
  const host = await start(
    t,
    `import { tool, keep } from 'mcp-bash'
    import { createServer } from 'node:net'
    const timer = keep(() => setInterval(() => {}, 1000), clearInterval)
    export const leaves = tool('x', {}, () => { setInterval(() => {}, 1000); return 'x' })
    export const serves = tool('x', {}, () => new Promise((resolve) => { const server = createServer().listen(0, () => resolve('x')) }))
    export const keeps = tool('x', {}, async () => { await timer(); return 'x' })
    export const tidy = tool('x', {}, async () => { await new Promise((resolve) => setTimeout(resolve, 1)); return 'x' })`,
  )
  for (const name of ['keeps', 'leaves', 'leaves', 'tidy', 'serves', 'tidy']) host.call({ tool: name })
  const frames = []
  while (frames.filter(({ result }) => result).length < 6) frames.push(await host.next())
  assert.deepEqual(logs(frames), [
    ['notice', 'leaves has left a timer running after its end; stop it, or hold it with keep()'],
    ['notice', 'serves has left a server running after its end; stop it, or hold it with keep()'],
  ])
})

test('children inherit neither pipe', { skip: process.platform !== 'linux' }, async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { execSync } from 'node:child_process'
    export const own = tool('x', {}, () => execSync('ls -l /proc/$PPID/fd', { stdio: ['inherit', 'pipe', 'inherit'] }).toString())
    export const child = tool('x', {}, () => execSync('exec ls -l /proc/self/fd', { stdio: ['inherit', 'pipe', 'inherit'] }).toString())`,
  )
  const pipes = (listing) => listing.split('\n').filter((line) => line.includes('.pipe-')).length
  assert.equal(pipes(await host.text('own')), 2, 'the worker itself has both')
  const listing = await host.text('child')
  assert.equal(pipes(listing), 0)
  assert.match(listing, / 0 -> \/dev\/null/)
})

test('the variables of a worker do not reach what it starts', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { execSync } from 'node:child_process'
    export const f = tool('x', {}, () => execSync('env | grep -c ^MCP_WORKER || true').toString().trim())`,
  )
  assert.equal(await host.text('f'), '0')
})
