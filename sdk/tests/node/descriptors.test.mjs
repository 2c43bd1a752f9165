// Descriptors 0, 1 and 2 stay the same, whatever a call does to them.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { start } from './host.mjs'

test('what a call has closed is put back before the next one opens a file', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { closeSync, openSync, readFileSync } from 'node:fs'
    export const shut = tool('x', { number: 'integer' }, ({ number }) => { closeSync(number); return 'shut' })
    export const open = tool('x', {}, () => openSync('file', 'w'))
    export const input = tool('x', {}, () => readFileSync(0).length)`,
  )
  for (const number of [0, 1, 2, 1]) {
    assert.equal(await host.text('shut', { number }), 'shut')
    assert.ok(Number(await host.text('open')) > 3, `${number} is not free`)
  }
  assert.equal(await host.text('input'), '0')
})

test('a worker in which another file has one of the numbers ends in peace', { timeout: 20_000 }, async (t) => {
  const host = await start(
    t,
    `import { tool, keep, worker } from 'mcp-bash'
    import { closeSync, openSync, writeFileSync } from 'node:fs'
    worker({ atOnce: 3 })
    const kept = keep(() => 1, () => writeFileSync('closed', ''))
    let release
    export const waits = tool('x', {}, async () => { await kept(); await new Promise((resolve) => { release = resolve }); return 'waited' })
    export const leaks = tool('x', {}, () => { closeSync(1); setTimeout(() => release(), 20); return openSync('leaked', 'w') })`,
  )
  const waiting = host.call({ tool: 'waits' })
  assert.equal(await host.text('leaks'), '1')
  const { end, notes } = await host.untilEnd(waiting)
  assert.equal(end.result.content[0].text, 'waited', 'an open call is finished')
  assert.match(notes[0].params.data, /^leaks has closed descriptor 1, and another file has its number: the worker ends/)
  assert.equal(await host.exit, 0)
  assert.ok(existsSync(join(host.root, 'closed')), 'what it keeps was closed')
})

test('calls that were read together with the one that leaks are served before the end', { timeout: 20_000 }, async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { closeSync, openSync } from 'node:fs'
    export const leaks = tool('x', {}, () => { closeSync(2); return openSync('leaked', 'w') })
    export const next = tool('x', {}, async () => { await new Promise((resolve) => setTimeout(resolve, 5)); return 'next' })`,
  )
  const frames = [1, 2, 3].map((call) => JSON.stringify({ call, tool: call === 1 ? 'leaks' : 'next' }))
  host.send(frames.join('\n'))
  for (const call of [1, 2, 3]) assert.ok((await host.untilEnd(call)).end.result, `call ${call}`)
  assert.equal(await host.exit, 0)
})
