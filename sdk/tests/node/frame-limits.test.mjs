// Values that exceed the limits of a frame fail their call, and neither the worker nor its kept state.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { misfit } from '../../node/lib/worker/frame-limits.mjs'
import { failure, start } from './host.mjs'

const SOURCE = `import { CannotAsk, ToolError, log, progress, prompt, sample, tool } from 'mcp-bash'
let calls = 0
const deep = (levels) => { let inner = 1; for (let n = 0; n < levels; n += 1) inner = [inner]; return inner }
export const nested = tool('x', { levels: 'integer' }, ({ levels }) => { calls += 1; return { a: deep(levels) } })
export const nestedText = tool('x', { levels: 'integer' }, ({ levels }) => deep(levels))
export const raw = tool('x', { count: 'integer' }, ({ count }) =>
  ({ a: [1, { b: JSON.rawJSON ? JSON.rawJSON('1'.repeat(count)) : '1'.repeat(count) }] }))
export const rows = tool('x', { count: 'integer' }, ({ count }) => ({ rows: Array.from({ length: count }, (_, n) => ({ n, x: [n, '"]}'] })) }))
export const fails = tool('x', { levels: 'integer' }, ({ levels }) => { throw new ToolError('told', { data: deep(levels) }) })
export const logs = tool('x', { levels: 'integer' }, ({ levels }) => { log.info(deep(levels)); return 'logged' })
export const tells = tool('x', {}, () => { progress(NaN); return 'told' })
export const asks = tool('x', { levels: 'integer' }, ({ levels }) =>
  sample('x', { metadata: { deep: deep(levels) } }).catch((error) => error.message))
export const wrong = prompt('x', {}, () => ({ messages: [{ role: 'user', content: { type: 'resource', resource: { uri: 'x://y', text: '', _meta: { a: deep(150) } } } }] }))
export const count = tool('x', {}, () => calls)`

test('nesting, numbers, logs, questions and progress that no frame can hold', async (t) => {
  const host = await start(t, SOURCE)
  assert.ok((await host.tool('nested', { levels: 97 })).result.structuredContent)
  for (const levels of [98, 150, 2000])
    assert.match(
      await host.errorText('nested', { levels }),
      /^The result of nested cannot be sent: it is nested more than 100 levels deep at structuredContent\.a\[0\]\[0\]/,
    )
  assert.equal(await host.text('nestedText', { levels: 300 }), '['.repeat(300) + '1' + ']'.repeat(300))
  assert.equal((await host.tool('rows', { count: 500 })).result.structuredContent.rows.length, 500)
  assert.ok((await host.tool('raw', { count: 1000 })).result.structuredContent)
  if (JSON.rawJSON)
    assert.match(await host.errorText('raw', { count: 1001 }), /has a number of 1001 digits at structuredContent\.a\[1\]\.b/)
  assert.match(await host.errorText('fails', { levels: 150 }), /nested more than 100 levels deep/)
  const { notes } = await host.tool('logs', { levels: 150 })
  assert.equal(typeof notes[0].params.data, 'string')
  assert.match(await host.errorText('tells'), /progress\(\) needs a number/)
  const asked = await host.tool('asks', { levels: 150 }, { ask: true, elicit: true })
  assert.match(asked.result.content[0].text, /^the question cannot be sent: it is nested more than 100 levels deep at metadata/)
  assert.deepEqual(asked.notes, [])
  const { error } = (await host.untilEnd(host.call({ prompt: 'wrong', arguments: {} }))).end
  assert.match(error.message, /^The result of wrong cannot be sent: it is nested more than 100 levels deep at messages\[0\]\.content/)
  assert.equal(await host.text('count'), '4')
})

test('definitions that no frame can hold', async (t) => {
  const message = await failure(
    t,
    `import { tool } from 'mcp-bash'
    let schema = {}
    for (let n = 0; n < 150; n += 1) schema = { properties: schema }
    export const f = tool({ description: 'x', input: {}, meta: { schema } }, () => 'x')`,
  )
  assert.match(message, /the definitions cannot be sent: what they say is nested more than 100 levels deep at tools\[0\]/)
})

test('texts hide nothing', () => {
  for (const text of [']'.repeat(200), '"'.repeat(50), '\\'.repeat(51), '\\"]', '{'.repeat(200), '1'.repeat(3000)]) {
    const written = JSON.stringify(text)
    assert.equal(misfit(JSON.stringify({ a: [text, { b: text }, -1.5e3] })), undefined)
    assert.match(misfit(`[${written},`.repeat(101) + '1' + ']'.repeat(101)), /nested more than 100 levels/)
    assert.match(misfit(`{"a":[${written},${'1'.repeat(1001)}]}`), /has a number of 1001 digits at a?\[1\]/)
    assert.match(misfit(`{"a":[${written},-${'1'.repeat(1000)}]}`), /has a number of 1001 digits/)
  }
})
