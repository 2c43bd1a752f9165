// The client's roots: known from the start, or requested when a function needs them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { start } from './host.mjs'

const SOURCE = `import { tool, roots, insideRoots, askRoots, askInsideRoots } from 'mcp-bash'
  const paths = (named) => named.map((root) => root.path)
  export const nothing = tool('x', {}, async () => 'nothing')
  export const known = tool('x', {}, () => ({ roots: paths(roots()) }))
  export const listed = tool('x', {}, async (_, context) => {
    const before = paths(roots())
    const several = await Promise.all([askRoots(), context.askRoots()])
    return { before, several: several.map(paths), again: paths(await askRoots()), after: paths(roots()) }
  })
  export const inside = tool('x', { path: 'string' }, async ({ path }) => askInsideRoots(path))
  export const of_context = tool('x', { path: 'string' }, async ({ path }, { askInsideRoots }) => askInsideRoots(path))
  export const unasked = tool('x', { path: 'string' }, ({ path }) => insideRoots(path))
`
const OWN = [{ uri: 'file:///own', path: '/own' }]
const UNASKED = { ask: true, askForRoots: true, roots: OWN }
const ANSWER = { result: { roots: [{ uri: 'file:///theirs', name: 'T', path: '/theirs' }] } }

/** The result of a call whose client is asked for its roots exactly once. */
async function asked(host, tool, args = {}, reply = ANSWER) {
  const call = host.call({ tool, arguments: args }, UNASKED)
  assert.deepEqual(await host.next(), { call, ask: 1, method: 'roots/list' })
  host.send({ call, answer: 1, ...reply })
  const { notes, end } = await host.untilEnd(call)
  assert.deepEqual(notes, [])
  return end.result
}

test('a function that does not want to know asks nobody', async (t) => {
  const host = await start(t, SOURCE)
  for (const tool of ['nothing', 'known']) {
    const { notes } = await host.untilEnd(host.call({ tool }, UNASKED))
    assert.deepEqual(notes, [], tool)
  }
})

test('the client is asked once in a call, and the next call knows nothing of it', async (t) => {
  const host = await start(t, SOURCE)
  const theirs = ['/theirs']
  assert.deepEqual((await asked(host, 'listed')).structuredContent, {
    before: ['/own'],
    several: [theirs, theirs],
    again: theirs,
    after: theirs,
  })
  assert.deepEqual((await host.tool('known', {}, { roots: OWN })).result.structuredContent, { roots: ['/own'] })
})

test('a path is held against what the client answers', async (t) => {
  const host = await start(t, SOURCE)
  for (const tool of ['inside', 'of_context']) {
    assert.equal((await asked(host, tool, { path: '/theirs/x' })).content[0].text, '/theirs/x')
    const refused = await asked(host, tool, { path: '/own/x' })
    assert.equal(refused.isError, true)
    assert.equal(refused.content[0].text, '/own/x is outside the open folders (/theirs)')
  }
  assert.equal(await host.text('inside', { path: '/own/x' }, { roots: OWN }), '/own/x')
})

test('a function that does not await is told how', async (t) => {
  const host = await start(t, SOURCE)
  assert.match(
    await host.errorText('unasked', { path: '/theirs/x' }, UNASKED),
    /\(\/own\); the client was not asked for its own: `await askInsideRoots\(path\)`/,
  )
})

test('folders that are all wrong open nothing, and no answer leaves those of the project', async (t) => {
  const host = await start(t, SOURCE)
  const wrong = { result: { roots: [], refused: 'none can be used' } }
  const refused = await asked(host, 'inside', { path: '/own/x' }, wrong)
  assert.equal(refused.isError, true)
  assert.match(refused.content[0].text, /none can be used/)
  const silent = { error: { code: -1, message: 'no' } }
  assert.equal((await asked(host, 'inside', { path: '/own/x' }, silent)).content[0].text, '/own/x')
})

test('a call that is cancelled meanwhile ends', async (t) => {
  const host = await start(t, SOURCE)
  const call = host.call({ tool: 'inside', arguments: { path: '/x' } }, UNASKED)
  assert.equal((await host.next()).method, 'roots/list')
  host.send({ cancel: call })
  assert.ok((await host.untilEnd(call)).end)
  assert.equal(await host.text('nothing'), 'nothing')
})
