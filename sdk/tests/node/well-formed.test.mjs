// A lone surrogate is not text: JSON parsers that are stricter than JavaScript would refuse the whole
// message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logs, start } from './host.mjs'

const HALF = "'ab😀'.slice(0, 3)"
const WHOLE = 'ab\ufffd'

test('in results, errors, logs, progress, questions and names', async (t) => {
  const host = await start(
    t,
    `import { tool, prompt, log, ask, ToolError } from 'mcp-bash'
    const half = ${HALF}
    export const object = tool('x', {}, () => ({ short: half, [half]: 1, whole: '😀' }))
    export const text = tool('x', {}, () => half)
    export const error = tool('x', {}, () => { throw new ToolError(half, { [half]: half }) })
    export const says = tool('x', {}, (_, { progress }) => { log.info(half); console.log(half); progress(1, 2, half); return '' })
    export const asks = tool('x', {}, () => ask(half, {}))
    export const talk = prompt('x', {}, () => half)
    export const backslash = tool('x', {}, () => '\\\\ud83d ' + half + ' \\\\\\\\ud83d \\u0001"')`,
  )
  const { result } = await host.tool('object')
  assert.deepEqual(result.structuredContent, { short: WHOLE, [WHOLE]: 1, whole: '😀' })
  assert.equal(result.content[0].text, `{"short":"${WHOLE}","${WHOLE}":1,"whole":"😀"}`)
  assert.equal(await host.text('text'), WHOLE)
  assert.equal(await host.text('backslash'), `\\ud83d ${WHOLE} \\\\ud83d \u0001"`, 'only halves are replaced')
  const failed = (await host.tool('error')).result
  assert.equal(failed.content[0].text, WHOLE)
  assert.deepEqual(failed.structuredContent.error.data, { [WHOLE]: WHOLE })
  const { notes } = await host.tool('says', {}, { progress: true })
  assert.deepEqual(logs(notes), [
    ['info', WHOLE],
    ['info', WHOLE],
  ])
  assert.ok(notes.some(({ params }) => params.message === WHOLE))
  const { end } = await host.untilEnd(host.call({ prompt: 'talk' }))
  assert.equal(end.result.messages[0].content.text, WHOLE)
  const call = host.call({ tool: 'asks', arguments: {} }, { elicit: true })
  assert.equal((await host.next()).params.message, WHOLE)
  host.send({ call, answer: 1, result: { action: 'accept', content: {} } })
  assert.ok((await host.untilEnd(call)).end.result)
})
