// The state that a worker keeps between calls, and its exit.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { start } from './host.mjs'

const SOURCE = `import { tool, keep } from 'mcp-bash'
  import { appendFileSync } from 'node:fs'
  const note = (text) => appendFileSync('notes', text + '\\n')
  let opened = 0
  const db = keep(async () => { opened += 1; return { name: 'db' + opened } }, async (db) => { await null; note('closed ' + db.name) })
  const cache = keep(() => new Map(), () => { note('closed cache'); throw new Error('in the end') })
  let tries = 0
  const moody = keep(() => { tries += 1; if (tries === 1) throw new Error('not yet'); return 'at last' })
  const never = keep(() => 1, () => note('never'))
  export const name = tool('x', {}, async () => (await db()).name)
  export const twice = tool('x', {}, async () => String((await db()) === (await db())))
  export const count = tool('x', {}, async () => { const map = await cache(); map.set('n', (map.get('n') ?? 0) + 1); return map.get('n') })
  export const drop = tool('x', {}, async () => { await db.end(); return 'dropped' })
  export const mood = tool('x', {}, () => moody())
  export const slow = tool('x', {}, async (_, { log }) => { await db(); log.info('started'); await new Promise((resolve) => setTimeout(resolve, 100)); note('slow is done'); return 'slow' })
  export const forever = tool('x', {}, async (_, { log, signal }) => { await db(); signal.onabort = () => note('aborted'); log.info('started'); await new Promise(() => {}) })
`

const notes = (host) =>
  existsSync(join(host.root, 'notes')) ? readFileSync(join(host.root, 'notes'), 'utf8') : ''

test('the same object for every call', async (t) => {
  const host = await start(t, SOURCE)
  assert.equal(await host.text('name'), 'db1')
  assert.equal(await host.text('name'), 'db1')
  assert.equal(await host.text('twice'), 'true')
  assert.equal(await host.text('count'), '1')
  assert.equal(await host.text('count'), '2')
  assert.equal(await host.text('drop'), 'dropped')
  assert.equal(notes(host), 'closed db1\n')
  assert.equal(await host.text('name'), 'db2')
})

test('what could not be opened is tried again', async (t) => {
  const host = await start(t, SOURCE)
  assert.match(await host.errorText('mood'), /^Error: not yet \(tools\/f\.mjs:8\)$/)
  assert.equal(await host.text('mood'), 'at last')
})

test('at the end of its input a worker finishes what runs, then ends what it keeps, the last one first', async (t) => {
  const host = await start(t, SOURCE)
  await host.text('name')
  await host.text('count')
  const call = host.call({ tool: 'slow' })
  await host.next()
  host.endInput()
  assert.equal((await host.untilEnd(call)).end.result.content[0].text, 'slow')
  assert.equal(await host.exit, 0)
  assert.equal(notes(host), 'slow is done\nclosed cache\nclosed db1\n')
})

test('TERM ends a worker at once, in order', async (t) => {
  const host = await start(t, SOURCE)
  host.call({ tool: 'forever' })
  await host.next()
  host.signal('SIGTERM')
  assert.equal(await host.exit, 0)
  assert.equal(notes(host), 'aborted\nclosed db1\n')
})

test('an end that takes too long is cut short', async (t) => {
  const host = await start(
    t,
    `import { tool, keep } from 'mcp-bash'
    const db = keep(() => 1, () => new Promise(() => setInterval(() => {}, 1000)))
    export const f = tool('x', {}, () => db())`,
  )
  await host.text('f')
  const before = Date.now()
  host.endInput()
  assert.equal(await host.exit, 0)
  assert.ok(Date.now() - before < 2000, 'before the server kills it')
})

test('listeners of the end are heard', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { writeFileSync } from 'node:fs'
    export const f = tool('x', {}, () => { process.on('exit', (code) => writeFileSync('notes', 'exit ' + code)); return 'x' })`,
  )
  await host.text('f')
  host.endInput()
  await host.exit
  assert.equal(notes(host), 'exit 0')
})
