// The state of a session: received with a call, and sent when it has changed. Files that keep something have one process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ready, start } from './host.mjs'

const SOURCE = `import { tool, state } from 'mcp-bash'
  export const count = tool('x', {}, (_, { state }) => { state.n = (state.n ?? 0) + 1; return state.n })
  export const inside = tool('x', {}, async () => { (state().cart ??= []).push('tea'); return state().cart.length })
  export const forget = tool('x', {}, (_, { state }) => { delete state.n; return 'gone' })
  export const reads = tool('x', {}, (_, { state }) => String(state.n))
  export const large = tool('x', {}, (_, { state }) => { state.x = 'x'.repeat(70000); return 'ok' })
  export const fails = tool('x', {}, (_, { state }) => { state.n = 7; throw new Error('no') })
`

const changes = (notes) => notes.filter(({ method }) => method === 'session/state').map(({ params }) => params)

test('changes are sent before the answer', async (t) => {
  const host = await start(t, SOURCE)
  for (const [tool, state, expected] of [
    ['count', {}, [{ set: { n: 1 }, delete: [] }]],
    ['count', { n: 4, x: [1] }, [{ set: { n: 5 }, delete: [] }]],
    ['inside', {}, [{ set: { cart: ['tea'] }, delete: [] }]],
    ['forget', { n: 1 }, [{ set: {}, delete: ['n'] }]],
    ['reads', { n: 1 }, []],
    ['fails', {}, [{ set: { n: 7 }, delete: [] }]],
  ]) {
    const { notes } = await host.tool(tool, {}, { state })
    assert.deepEqual(changes(notes), expected, tool)
  }
})

test('what cannot be kept fails the call', async (t) => {
  const host = await start(t, SOURCE)
  const { result, notes } = await host.tool('large', {}, { state: {} })
  assert.match(result.content[0].text, /65536 are allowed/)
  assert.deepEqual(changes(notes), [])
})

test('without a session there is none', async (t) => {
  const host = await start(t, SOURCE)
  assert.match(await host.errorText('count'), /This client has no session/)
})

test('a file that keeps something has one process, unless it says otherwise', async (t) => {
  const kept = `import { tool, keep, worker } from 'mcp-bash'\nconst db = keep(() => 1)\nexport const f = tool('x', {}, () => db())\n`
  const one = await ready(t, kept)
  assert.deepEqual([one.worker, one.splitState], [{ processes: 1 }, undefined])
  const several = await ready(t, kept + 'worker({ processes: 3 })\n')
  assert.deepEqual([several.worker.processes, several.splitState], [3, 'state (`keep()`)'])
})
