// The messages and questions of a running function.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logs, start } from './host.mjs'

const ASKING = { ask: true, elicit: true }

test('progress, by the module and by the context', async (t) => {
  const host = await start(
    t,
    `import { tool, progress } from 'mcp-bash'
    export const f = tool('x', {}, async (_, context) => {
      progress(1, 3, 'one')
      await null
      progress(2, 'two')
      const { progress: mine } = context
      mine(3, 3)
    })
    export const bad = tool('x', {}, () => progress('a'))
    export const alive = tool({ input: {}, progressExtendsTimeout: true }, () => progress(1))`,
  )
  const { notes } = await host.tool('f', {}, { progress: true })
  assert.deepEqual(
    notes.map(({ method, params }) => [method, params]),
    [
      ['notifications/progress', { progress: 1, total: 3, message: 'one' }],
      ['notifications/progress', { progress: 2, message: 'two' }],
      ['notifications/progress', { progress: 3, total: 3 }],
    ],
  )
  assert.deepEqual((await host.tool('f')).notes, [], 'nobody wants to hear of it')
  assert.match(await host.errorText('bad'), /progress\(\) needs a number/)
  assert.equal((await host.tool('alive')).notes.length, 1, 'a sign of life')
})

test('logs of all kinds', async (t) => {
  const host = await start(
    t,
    `import { tool, log } from 'mcp-bash'
    export const f = tool('x', {}, (_, { log: mine }) => {
      log.debug('d'); log.info({ a: 1 }); log.warning('%s files', 3); log.warn('w'); log.error(new Error('e'))
      log('notice', 'n'); mine.critical('c'); log.info(10n); log.info(undefined)
      const cycle = {}; cycle.self = cycle; log.info(cycle)
    })
    export const bad = tool('x', {}, () => log('loud', 'x'))`,
  )
  const told = logs((await host.tool('f')).notes)
  assert.deepEqual(told.slice(0, 4), [
    ['debug', 'd'],
    ['info', { a: 1 }],
    ['warning', '3 files'],
    ['warning', 'w'],
  ])
  assert.match(told[4][1], /^Error: e\n/)
  assert.deepEqual(told.slice(5, 9), [
    ['notice', 'n'],
    ['critical', 'c'],
    ['info', '10n'],
    ['info', 'undefined'],
  ])
  assert.match(told[9][1], /Circular/)
  assert.match(await host.errorText('bad'), /there is no log level 'loud'/)
})

test('what is printed is the log of its call and never its result', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    console.log('while loading')
    export const f = tool('x', {}, async () => {
      console.log('one', { a: 1 }); console.error('bad'); console.warn('careful'); console.debug('small'); console.info('two\\nlines')
      await new Promise((resolve) => process.stdout.write('written\\n', resolve))
      process.stdout.write('half '); process.stdout.write(Buffer.from('whole\\n')); process.stderr.write('no line feed')
      console.table([{ a: 1 }])
      return 'result'
    })`,
  )
  const { notes, result } = await host.tool('f')
  assert.deepEqual(logs(notes).slice(0, 8), [
    ['info', 'one { a: 1 }'],
    ['error', 'bad'],
    ['warning', 'careful'],
    ['debug', 'small'],
    ['info', 'two\nlines'],
    ['info', 'written'],
    ['info', 'half whole'],
    ['warning', 'no line feed'],
  ])
  assert.equal(notes[0].params.logger, 'f')
  assert.deepEqual(result.content, [{ type: 'text', text: 'result' }])
  assert.match(host.stdout, /^while loading\n$/)
})

/** Answers the next question of a worker. */
async function answer(host, reply) {
  const question = await host.next()
  assert.ok(question.ask, `no question: ${JSON.stringify(question)}`)
  host.send({ call: question.call, answer: question.ask, ...reply })
  return question
}

const accept = (content) => ({ result: { action: 'accept', content } })

const QUESTIONS = `import { tool, ask, askAll, askUrl, confirm, choose, sample, Declined, Cancelled, CannotAsk } from 'mcp-bash'
  const kind = (error) => error instanceof Declined ? 'declined' : error instanceof Cancelled ? 'cancelled' : error instanceof CannotAsk ? 'cannot ask' : String(error)
  export const asks = tool('x', {}, async () => (await ask('Which port?', { port: { type: 'integer', minimum: 1 }, host: 'string?' }, { name: 'port', timeoutSecs: 5 })))
  export const uncaught = tool('x', {}, async (_, { ask }) => ask('Sure?', {}))
  export const caught = tool('x', {}, async () => { try { await ask('Sure?') } catch (error) { return kind(error) + ': ' + error.message } })
  export const confirms = tool('x', {}, async () => String(await confirm('Delete?')))
  export const chooses = tool('x', {}, async () => choose('Where to?', ['here', 'there']))
  export const titled = tool('x', {}, async () => choose('Quality?', { hi: 'High', lo: 'Low' }))
  export const many = tool('x', {}, async () => (await choose('Which?', ['a', 'b'], { multiple: true })).join())
  export const url = tool('x', {}, async () => { await askUrl('Sign in', 'https://login.example/'); return 'signed in' })
  export const samples = tool('x', {}, async () => (await sample('Summarise', { system: 'Be brief', maxTokens: 5, temperature: 0 })).text)
  export const all = tool('x', {}, async () => { try { return await askAll({ who: { message: 'Who?', fields: { name: 'string' } }, where: { method: 'roots/list' }, why: 'Why?' }) } catch (error) { return kind(error) + ' ' + error.question + ' ' + JSON.stringify(error.answers) } })
  export const withdrawn = tool('x', {}, async () => { const stop = new AbortController(); const asked = ask('x', {}, { signal: stop.signal }); stop.abort(new Error('enough')); try { await asked } catch (error) { return error.message } })
`

test('a form', async (t) => {
  const host = await start(t, QUESTIONS)
  const call = host.call({ tool: 'asks' }, ASKING)
  const question = await answer(host, accept({ port: 80 }))
  assert.deepEqual(question, {
    call,
    ask: 1,
    name: 'port',
    timeoutSecs: 5,
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Which port?',
      requestedSchema: {
        type: 'object',
        properties: { port: { type: 'integer', minimum: 1 }, host: { type: 'string' } },
        required: ['port'],
      },
    },
  })
  assert.deepEqual((await host.untilEnd(call)).end.result.structuredContent, { port: 80 })
})

test('answers that are none', async (t) => {
  const host = await start(t, QUESTIONS)
  const outcome = async (tool, reply) => {
    const call = host.call({ tool }, ASKING)
    await answer(host, reply)
    return (await host.untilEnd(call)).end.result
  }
  const said = async (...parameters) => (await outcome(...parameters)).content[0].text
  assert.equal(await said('caught', { result: { action: 'decline' } }), 'declined: the user declined: Sure?')
  assert.equal(
    await said('caught', { result: { action: 'cancel' } }),
    'cancelled: the user closed the question: Sure?',
  )
  assert.equal(await said('caught', { error: { code: -32000, message: 'too late' } }), 'cannot ask: too late')
  assert.equal(await said('caught', { result: {} }), 'cannot ask: no answer came: Sure?')
  const failed = await outcome('uncaught', { result: { action: 'decline' } })
  assert.deepEqual(failed, {
    content: [{ type: 'text', text: 'the user declined: Sure?' }],
    structuredContent: { success: false, error: { type: 'declined', message: 'the user declined: Sure?' } },
    isError: true,
  })
  assert.equal(await host.text('caught'), 'cannot ask: this client cannot be asked', 'without the capability')
  assert.equal(
    await host.text('caught', {}, { ask: true }),
    'cannot ask: this client cannot be asked',
    'with another one only',
  )
})

test('yes, no, and choices', async (t) => {
  const host = await start(t, QUESTIONS)
  const said = async (tool, reply) => {
    const call = host.call({ tool }, ASKING)
    const { params } = await answer(host, reply)
    return [(await host.untilEnd(call)).end.result.content[0].text, params.requestedSchema?.properties]
  }
  assert.deepEqual(await said('confirms', accept({ confirmed: true })), [
    'true',
    { confirmed: { type: 'boolean' } },
  ])
  assert.equal((await said('confirms', accept({ confirmed: false })))[0], 'false')
  assert.equal((await said('confirms', { result: { action: 'decline' } }))[0], 'false')
  assert.deepEqual(await said('chooses', accept({ choice: 'there' })), [
    'there',
    { choice: { type: 'string', enum: ['here', 'there'] } },
  ])
  assert.deepEqual(await said('titled', accept({ choice: 'hi' })), [
    'hi',
    {
      choice: {
        type: 'string',
        oneOf: [
          { const: 'hi', title: 'High' },
          { const: 'lo', title: 'Low' },
        ],
      },
    },
  ])
  assert.deepEqual(await said('many', accept({ choices: ['a', 'b'] })), [
    'a,b',
    { choices: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } },
  ])
})

test('a page, and the model of the client', async (t) => {
  const host = await start(t, QUESTIONS)
  const page = host.call({ tool: 'url' }, ASKING)
  assert.deepEqual((await answer(host, { result: { action: 'accept' } })).params, {
    mode: 'url',
    message: 'Sign in',
    url: 'https://login.example/',
  })
  assert.equal((await host.untilEnd(page)).end.result.content[0].text, 'signed in')
  const sampling = host.call({ tool: 'samples' }, { ask: true })
  const { method, params } = await answer(host, {
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'Short.' } },
  })
  assert.equal(method, 'sampling/createMessage')
  assert.deepEqual(params, {
    messages: [{ role: 'user', content: { type: 'text', text: 'Summarise' } }],
    maxTokens: 5,
    temperature: 0,
    systemPrompt: 'Be brief',
  })
  assert.equal((await host.untilEnd(sampling)).end.result.content[0].text, 'Short.')
})

test('several questions at once', async (t) => {
  const host = await start(t, QUESTIONS)
  const said = async (reply) => {
    const call = host.call({ tool: 'all' }, ASKING)
    const { questions } = await answer(host, { result: reply })
    assert.deepEqual(Object.keys(questions), ['who', 'where', 'why'])
    assert.equal(questions.where.method, 'roots/list')
    return (await host.untilEnd(call)).end.result
  }
  const roots = { result: { roots: [] } }
  const answered = await said({ who: accept({ name: 'Ada' }), where: roots, why: accept({ value: 'so' }) })
  assert.deepEqual(answered.structuredContent, {
    who: { name: 'Ada' },
    where: { roots: [] },
    why: { value: 'so' },
  })
  const declined = await said({
    who: accept({ name: 'Ada' }),
    where: roots,
    why: { result: { action: 'decline' } },
  })
  assert.equal(declined.content[0].text, 'declined why {"who":{"name":"Ada"},"where":{"roots":[]}}')
})

test('a question is withdrawn', async (t) => {
  const host = await start(t, QUESTIONS)
  const call = host.call({ tool: 'withdrawn' }, ASKING)
  const { notes, end } = await host.untilEnd(call)
  assert.equal(notes[0].ask, 1)
  assert.deepEqual(notes[1], { call, withdraw: 1 })
  assert.equal(end.result.content[0].text, 'enough')
})

test('roots, _meta, folder, caller', async (t) => {
  const host = await start(
    t,
    `import { tool, roots, meta, folder, caller, trace } from 'mcp-bash'
    export const f = tool('x', {}, (_, context) => ({
      roots: roots(), meta: meta(), folder: folder(), caller: caller(), trace: trace(),
      same: context.roots() === roots() && context.meta() === meta() && context.folder === folder() && context.caller === caller() && context.trace === trace(),
    }))
    export const r = tool('x', {}, () => roots())`,
  )
  const given = {
    roots: [{ uri: 'file:///x', name: 'x', path: '/x' }],
    meta: { tenant: 7 },
    folder: '/tmp/of-this-call',
    caller: 'ada',
    trace: { traceparent: '00-a-b-01' },
  }
  assert.deepEqual((await host.tool('f', {}, given)).result.structuredContent, { ...given, same: true })
  assert.deepEqual((await host.tool('f')).result.structuredContent, {
    roots: [],
    meta: {},
    trace: {},
    same: true,
  })
  assert.match(
    await host.errorText('r', {}, { rootsRefused: 'the user said no' }),
    /the client's folders are not known: the user said no/,
  )
})

test('a path must be inside of the folders that are open', async (t) => {
  const host = await start(
    t,
    `import { tool, insideRoots } from 'mcp-bash'
    import { symlinkSync } from 'node:fs'
    symlinkSync('/etc', 'open/out')
    export const f = tool('x', { p: 'string' }, ({ p }, context) => insideRoots(p) === context.insideRoots(p) && insideRoots(p))`,
    { files: { 'open/a.txt': '', 'opened/b.txt': '' } },
  )
  const roots = [{ uri: `file://${host.root}/open`, path: `${host.root}/open` }]
  for (const path of ['open/a.txt', 'open/new/file', 'open', 'opened/../open/a.txt']) {
    assert.match(await host.text('f', { p: path }, { roots }), /\/open(\/a\.txt|\/new\/file)?$/, path)
  }
  for (const path of ['opened/b.txt', 'open/../x', 'open/out/passwd', '/']) {
    assert.match(
      await host.errorText('f', { p: path }, { roots }),
      /is outside the open folders \(.*\/open\)$/,
      path,
    )
  }
})

test('outside of a call', async (t) => {
  const host = await start(
    t,
    `import { tool, progress, log, ask, meta, signal } from 'mcp-bash'
    progress(1); log.warning('loading'); meta(); signal()
    const why = await ask('x', {}).catch((error) => error.message)
    export const f = tool('x', {}, () => why)
    setTimeout(() => { if (globalThis.called) log.info('later') }, 0)`,
  )
  assert.equal(await host.text('f'), 'no call is being served here, or it has ended: nobody can be asked')
  assert.match(host.stderr, /warning: loading/)
})

test('cancellation reaches the signal, the questions and what was given the signal', async (t) => {
  const host = await start(
    t,
    `import { tool, ask, signal, Cancelled, log } from 'mcp-bash'
    import { setTimeout as sleep } from 'node:timers/promises'
    const waiting = (work) => async (...parameters) => { try { log.info('started'); return await work(...parameters) } catch (error) { return [error instanceof Cancelled, error.name, error.cause instanceof Cancelled].join() } }
    export const sleeps = tool('x', {}, waiting(async (_, { signal }) => sleep(60000, 0, { signal })))
    export const asks = tool('x', {}, waiting(async () => ask('Really?', {})))
    export const late = tool('x', {}, waiting(async () => { await new Promise((resolve) => setTimeout(resolve, 50)); signal().throwIfAborted() }))`,
  )
  for (const [tool, expected] of [
    ['sleeps', 'false,AbortError,true'],
    ['asks', 'true,Cancelled,false'],
    ['late', 'true,Cancelled,false'],
  ]) {
    const call = host.call({ tool }, ASKING)
    await host.next()
    host.send({ cancel: call })
    assert.equal((await host.untilEnd(call)).end.result.content[0].text, expected, tool)
  }
})

test('a call that ignores its cancellation is not answered, so that the server ends the worker', async (t) => {
  const host = await start(
    t,
    `import { tool, log } from 'mcp-bash'
    export const f = tool('x', {}, async () => { log.info('started'); await new Promise((resolve) => setTimeout(resolve, 1500)); return 'late' })`,
  )
  const call = host.call({ tool: 'f' })
  await host.next()
  const before = Date.now()
  host.send({ cancel: call })
  await host.untilEnd(call)
  assert.ok(Date.now() - before > 1000)
})

test('where others run beside it, it is answered in time', async (t) => {
  const host = await start(
    t,
    `import { tool, log, worker } from 'mcp-bash'
    worker({ atOnce: 2 })
    export const stuck = tool('x', {}, () => { log.info('started'); return new Promise(() => {}) })
    export const f = tool('x', {}, () => 'fine')`,
  )
  const call = host.call({ tool: 'stuck' })
  await host.next()
  assert.equal(await host.text('f'), 'fine')
  host.send({ cancel: call })
  const { end, notes } = await host.untilEnd(call)
  assert.equal(end.result.isError, true)
  assert.match(notes[0].params.data, /stuck goes on after its cancellation/)
  assert.equal(notes[0].call, undefined, 'that is for the operator')
})

test('calls at once each have their own context', async (t) => {
  const host = await start(
    t,
    `import { tool, log, meta, worker, ask } from 'mcp-bash'
    worker({ atOnce: 8 })
    export const f = tool('x', { n: 'number' }, async ({ n }) => { console.log('before', n); await ask('go on?', {}); console.log('after', n); return String(meta().n === n) })`,
  )
  const calls = [1, 2, 3].map((n) => host.call({ tool: 'f', arguments: { n }, meta: { n } }, ASKING))
  const questions = []
  while (questions.length < 3) {
    const frame = await host.next()
    if (frame.ask) questions.push(frame)
    else assert.equal(frame.params.data, `before ${frame.call}`)
  }
  for (const { call, ask } of questions.reverse()) host.send({ call, answer: ask, ...accept({}) })
  const ended = []
  while (ended.length < 3) {
    const frame = await host.next()
    if (frame.method) assert.equal(frame.params.data, `after ${frame.call}`)
    else {
      assert.equal(frame.result.content[0].text, 'true')
      ended.push(frame.call)
    }
  }
  assert.deepEqual(ended.sort(), calls)
})

test('without atOnce a second call waits for the first', async (t) => {
  const host = await start(
    t,
    `import { tool, ask } from 'mcp-bash'
    export const f = tool('x', {}, async () => { await ask('go on?', {}); return 'first' })
    export const g = tool('x', {}, () => 'second')`,
  )
  const first = host.call({ tool: 'f' }, ASKING)
  const second = host.call({ tool: 'g' })
  const third = host.call({ tool: 'g' })
  host.send({ cancel: third })
  const seen = [await host.next(), await host.next()]
  assert.deepEqual(
    seen.map(({ call }) => call),
    [first, third],
  )
  assert.ok(seen[1].error)
  host.send({ call: first, answer: 1, ...accept({}) })
  assert.equal((await host.next()).call, first)
  assert.equal((await host.next()).call, second)
})
