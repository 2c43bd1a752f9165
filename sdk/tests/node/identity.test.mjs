// Caller, meta, printed output, logs and questions belong to the right call, whatever caused the work to run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { start } from './host.mjs'

const NOBODY = 'no call is being served here, or it has ended: nobody can be asked'

const SOURCE = `import { caller, confirm, keep, log, meta, tool, worker } from 'mcp-bash'
import { AsyncResource } from 'node:async_hooks'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { Agent, createServer as createHttpServer, get } from 'node:http'
import { connect, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
WORKER
const gates = {}
const gate = (name) => (gates[name] ??= Promise.withResolvers?.() ?? late())
const late = () => { const held = {}; held.promise = new Promise((resolve) => { held.resolve = resolve }); return held }

const who = () => {
  console.log('printed by ' + caller())
  log.info('said by ' + caller())
  return [caller() ?? null, meta().from ?? null]
}
const whoAsks = async () => {
  const found = who()
  try {
    return [...found, await confirm('Delete the files of ' + caller() + '?')]
  } catch (error) {
    return [...found, error.message]
  }
}
/** Calls \`done\` with what is found out in a callback. */
const later = (resolve) => () => resolve(whoAsks())

// Opened by whichever call comes first, and used by all.
const opened = {}
const bus = new EventEmitter()
const server = async () => (opened.server ??= await new Promise((resolve) => {
  const made = createServer((socket) => socket.pipe(socket)).unref().listen(0, () => resolve(made))
}))

const ways = {
  here: (resolve) => later(resolve)(),
  timer: (resolve) => setTimeout(later(resolve), 1),
  tick: (resolve) => process.nextTick(later(resolve)),
  immediate: (resolve) => setImmediate(later(resolve)),
  promise: (resolve) => Promise.resolve().then(later(resolve)),
  'a shared emitter': (resolve) => { bus.once('x', later(resolve)); bus.emit('x') },
  'http, kept alive': async (resolve) => {
    opened.http ??= await new Promise((done) => {
      const made = createHttpServer((_, response) => response.end('x')).unref().listen(0, () => done(made))
    })
    opened.agent ??= new Agent({ keepAlive: true, maxSockets: 1 })
    get({ port: opened.http.address().port, agent: opened.agent }, (response) => response.resume().on('end', later(resolve)))
  },
  'fetch': async (resolve) => {
    opened.http ??= await new Promise((done) => {
      const made = createHttpServer((_, response) => response.end('x')).unref().listen(0, () => done(made))
    })
    await (await fetch('http://localhost:' + opened.http.address().port)).text()
    later(resolve)()
  },
}
export const asks = tool('x', { way: 'string' }, ({ way }) => new Promise((resolve) => ways[way](resolve)))

// Clients that serve their callbacks in order, as drivers of databases do.
const shared = {
  socket: async () => {
    const { port } = (await server()).address()
    const callbacks = []
    const socket = connect(port).unref()
    socket.on('data', (data) => { for (const _ of String(data)) callbacks.shift()() })
    return (callback) => { callbacks.push(callback); socket.write('x') }
  },
  process: async () => {
    const callbacks = []
    const child = spawn('cat')
    child.stdout.on('data', (data) => { for (const _ of String(data)) callbacks.shift()() })
    return (callback) => { callbacks.push(callback); child.stdin.write('x') }
  },
  thread: async () => {
    const callbacks = []
    const thread = new Worker('const { parentPort } = require("worker_threads"); parentPort.on("message", (x) => parentPort.postMessage(x))', { eval: true })
    thread.unref()
    thread.on('message', () => callbacks.shift()())
    return (callback) => { callbacks.push(callback); thread.postMessage('x') }
  },
}
const query = async (kind, callback) => (await (opened[kind] ??= shared[kind]()))(callback)
export const queries = tool('x', { kind: 'string' }, ({ kind }) => new Promise((resolve) => query(kind, later(resolve))))
export const awaits = tool('x', { kind: 'string' }, async ({ kind }) => {
  await new Promise((resolve) => query(kind, resolve))
  return whoAsks()
})
export const binds = tool('x', { kind: 'string' }, ({ kind }) => new Promise((resolve) => query(kind, AsyncResource.bind(later(resolve)))))
export const opensAndWaits = tool('x', { kind: 'string' }, async ({ kind }) => {
  await new Promise((resolve) => query(kind, resolve))
  log.info('waiting')
  await gate(kind).promise
  return who()
})
export const openGate = tool('x', { kind: 'string' }, ({ kind }) => { gate(kind).resolve(); return 'opened' })

export const listens = tool('x', {}, () => { bus.on('late', () => bus.emit('heard', whoAsks())); log.info('waiting'); return gate('listens').promise })
export const emits = tool('x', {}, async () => { const heard = once(bus, 'heard'); bus.emit('late'); return (await heard)[0] })

let ticks
export const leaves = tool('x', {}, () => { ticks = setInterval(() => bus.emit('tick', whoAsks()), 5).unref(); return 'left' })
export const looks = tool('x', {}, async () => { const [found] = await once(bus, 'tick'); clearInterval(ticks); return found })

let held
export const holds = tool('x', {}, (_, context) => { held = context; return 'held' })
export const usesHeld = tool('x', {}, async () => {
  held.log.info('logged too late')
  held.progress(1)
  return held.confirm('Really?').catch((error) => [error.message])
})
export const removes = tool('x', {}, () => {
  const emitter = new EventEmitter()
  const listener = () => assert.fail()
  const once = () => emitter.emit('ran')
  emitter.on('a', listener).once('b', listener).prependOnceListener('c', listener)
  emitter.off('a', listener).off('b', listener).off('c', listener)
  emitter.once('d', once)
  const listeners = emitter.listeners('d')[0] === once
  let ran = 0
  emitter.on('ran', () => { ran += 1 })
  emitter.emit('d'); emitter.emit('d')
  return [emitter.listenerCount('a'), emitter.listenerCount('b'), emitter.listenerCount('c'), listeners, ran]
})`

class Callers {
  constructor(host) {
    this.host = host
  }

  begin(caller, tool, parameters = {}) {
    const more = { caller, meta: { from: caller }, elicit: true, ask: true, progress: true }
    return this.host.call({ tool, arguments: parameters }, more)
  }

  /** The value of a call, all of whose messages and questions must be its own. */
  async ended(call, caller) {
    this.own = []
    this.noCalls = []
    for (;;) {
      const frame = await this.host.next()
      assert.ok(frame, `the worker has ended\n${this.host.stderr}`)
      if (frame.ask !== undefined) {
        assert.deepEqual([frame.call, frame.params.message], [call, `Delete the files of ${caller}?`])
        this.host.send({ call, answer: frame.ask, result: { action: 'accept', content: { confirmed: true } } })
      } else if (frame.result || frame.error) {
        assert.equal(frame.call, call)
        assert.ok(frame.result && !frame.result.isError, JSON.stringify(frame))
        const [{ text }] = frame.result.content
        return text.startsWith('[') ? JSON.parse(text) : text
      } else if (frame.call === undefined) {
        if (frame.params.level !== 'notice') this.noCalls.push(frame.params.data)
      } else {
        assert.equal(frame.call, call, JSON.stringify(frame))
        this.own.push(frame.params.data)
      }
    }
  }

  call(caller, tool, parameters) {
    return this.ended(this.begin(caller, tool, parameters), caller)
  }
}

async function callers(t, options = '') {
  return new Callers(await start(t, SOURCE.replace('WORKER', options)))
}

const WAYS = ['here', 'timer', 'tick', 'immediate', 'promise', 'a shared emitter', 'http, kept alive', 'fetch']

for (const [name, options] of [
  ['one at a time', ''],
  ['several at once', 'worker({ atOnce: 4, keepsProcesses: true })'],
]) {
  test(`work belongs to the call that causes it: ${name}`, async (t) => {
    const them = await callers(t, options)
    for (const way of WAYS)
      for (const caller of ['alice', 'bob', 'carol']) {
        assert.deepEqual(await them.call(caller, 'asks', { way }), [caller, caller, true], way)
        assert.deepEqual(them.own, [`printed by ${caller}`, `said by ${caller}`], way)
      }
  })

  test(`what a call left running has no call: ${name}`, async (t) => {
    const them = await callers(t, options)
    await them.call('alice', 'leaves')
    assert.deepEqual(await them.call('bob', 'looks'), [null, null, NOBODY])
    assert.deepEqual(them.own, [])
    assert.equal(them.noCalls[0], 'said by undefined')
    await them.call('alice', 'holds')
    assert.deepEqual(await them.call('bob', 'usesHeld'), ['the call has ended: nobody can be asked'])
    assert.deepEqual([them.own, them.noCalls.at(-1)], [[], 'logged too late'])
    assert.match(them.host.stdout, /printed by undefined/)
    assert.deepEqual(await them.call('alice', 'removes'), [0, 0, 0, true, 1])
  })
}

test('callbacks of what an open call has opened, and another one uses', async (t) => {
  const them = await callers(t, 'worker({ atOnce: 4, keepsProcesses: true })')
  for (const kind of ['socket', 'process', 'thread']) {
    const first = them.begin('alice', 'opensAndWaits', { kind })
    assert.equal((await them.host.next()).call, first)
    assert.deepEqual(await them.call('bob', 'queries', { kind }), [null, null, NOBODY], kind)
    assert.deepEqual(them.own, [])
    for (const tool of ['awaits', 'binds']) {
      assert.deepEqual(await them.call('bob', tool, { kind }), ['bob', 'bob', true], `${kind} ${tool}`)
      assert.deepEqual(them.own, ['printed by bob', 'said by bob'])
    }
    them.begin('bob', 'openGate', { kind })
    const { end } = await them.host.untilEnd(first)
    assert.equal(end.result.content[0].text, '["alice","alice"]')
    // The answer to openGate may still be on its way.
    await them.host.tool('removes')
  }
})

test('a listener works for the call that added it', async (t) => {
  const them = await callers(t, 'worker({ atOnce: 4 })')
  const first = them.begin('alice', 'listens')
  assert.equal((await them.host.next()).call, first)
  const second = them.begin('bob', 'emits')
  const frames = []
  for (;;) {
    const frame = await them.host.next()
    if (frame.ask !== undefined) {
      assert.deepEqual([frame.call, frame.params.message], [first, 'Delete the files of alice?'])
      them.host.send({ call: first, answer: frame.ask, result: { action: 'accept', content: { confirmed: true } } })
    } else if (frame.result) {
      assert.deepEqual([frame.call, frame.result.content[0].text], [second, '["alice","alice",true]'])
      break
    } else frames.push(frame.call)
  }
  assert.deepEqual(frames, [first, first])
})
