// Frames for which the server would kill the worker: oversized ones are not sent, and the worker continues.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logs, start } from './host.mjs'

const SOURCE = `import { tool, resource, prompt, log, ask, ToolError } from 'mcp-bash'
  let calls = 0
  const input = { n: 'integer' }
  export const text = tool('x', input, ({ n }) => (calls += 1, 'ä'.repeat(n)))
  export const shaped = tool('x', input, ({ n }) => (calls += 1, { a: 'x'.repeat(n) }))
  export const fails = tool('x', input, ({ n }) => { calls += 1; throw new ToolError('x'.repeat(n)) })
  export const logs = tool('x', input, ({ n }, { progress }) => { log.info('x'.repeat(n)); log.info({ a: 'x'.repeat(n) }); progress(1, 2, 'x'.repeat(n)); return String(calls += 1) })
  export const asks = tool('x', input, async ({ n }) => { calls += 1; return (await ask('x'.repeat(n), {}).catch((error) => error)).message })
  export const file = resource('x://file', () => (calls += 1, 'x'.repeat(5000)))
  export const talk = prompt('x', {}, () => (calls += 1, 'x'.repeat(5000)))
  export const count = tool('x', {}, () => calls)`

const LIMIT = 2000

test('answers, logs, progress and questions', async (t) => {
  const host = await start(t, SOURCE, { env: { MCPBASH_MAX_TOOL_OUTPUT_SIZE: String(LIMIT) } })
  assert.match(
    await host.errorText('text', { n: 1000 }),
    /^The result of text is too large: 20\d\d bytes, where 2000 are allowed \(MCPBASH_MAX_TOOL_OUTPUT_SIZE\); return less$/,
  )
  assert.equal((await host.text('text', { n: 970 })).length, 970)
  assert.match(await host.errorText('shaped', { n: 1000 }), /return less, or have it sent as text only: JSON\.stringify\(…\)$/)
  assert.match(await host.errorText('fails', { n: 3000 }), /^The result of fails is too large/)
  for (const what of [{ resource: 'x://file', name: 'file' }, { prompt: 'talk' }]) {
    const { error } = (await host.untilEnd(host.call(what))).end
    assert.equal(error.code, -32603)
    assert.match(error.message, /is too large: 5\d\d\d bytes, where 2000 are allowed/)
  }
  const { notes, result } = await host.tool('logs', { n: 3000 }, { progress: true })
  assert.equal(result.content[0].text, '7')
  assert.equal(notes.length, 3)
  for (const note of notes) assert.ok(Buffer.byteLength(JSON.stringify(note)) <= LIMIT)
  assert.match(logs(notes)[0][1], /^x{1000,}… \[cut: 3000 characters in all\]$/)
  assert.equal(await host.text('asks', { n: 3000 }, { elicit: true }), 'the question cannot be sent: it is too long')
  assert.equal(await host.text('count'), '8', 'one process has served all of them')
})

test('10 MB where the server names no limit', async (t) => {
  const host = await start(t, SOURCE)
  assert.match(await host.errorText('text', { n: 5_500_000 }), /too large: 11000\d\d\d bytes, where 10485760 are allowed/)
  assert.equal(await host.text('count'), '1')
})
