// A small host: starts the real worker program with real pipes and speaks the worker protocol to it.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const SDK = fileURLToPath(new URL('../../node/', import.meta.url))
const PATIENCE_MS = 20_000

/** A project in its own folder, removed after the test: files by name. */
export function project(test, files) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-node-')))
  test.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

/** A worker for one function file, given as its text (tools/f.mjs), or for `file` of several. */
export async function start(
  test,
  source,
  { file = 'tools/f.mjs', files = {}, env = {}, sockets = false } = {},
) {
  const root = project(test, source === undefined ? files : { [file]: source, ...files })
  const host = new Host(root, file, env, sockets)
  test.after(() => host.kill())
  host.first = await host.next()
  return host
}

/** The definitions of a function file. */
export async function ready(test, source, options) {
  const host = await start(test, source, options)
  assert.ok(host.first.ready, `not ready: ${JSON.stringify(host.first)}\n${host.stderr}`)
  return host.first.ready
}

/** The message of a function file that cannot be loaded. */
export async function failure(test, source, options) {
  const host = await start(test, source, options)
  assert.ok(host.first.failed, `it was loaded: ${JSON.stringify(host.first)}`)
  assert.equal(await host.exit, 1)
  return host.first.failed.message
}

export class Host {
  stdout = ''
  stderr = ''
  #frames = []
  #readers = []
  #child
  #input
  #output
  #lastCall = 0

  constructor(root, file, env, sockets) {
    this.root = root
    const stdio = sockets ? ['pipe', 'pipe', 'pipe', 'pipe'] : this.#pipes(root)
    const { NODE_OPTIONS, NODE_TEST_CONTEXT, ...inherited } = process.env
    this.#child = spawn(process.execPath, [join(SDK, 'worker.mjs'), file], {
      cwd: root,
      stdio,
      env: {
        ...inherited,
        MCPBASH_PROJECT_ROOT: root,
        MCP_WORKER: '1',
        MCP_WORKER_OUTPUT: '/dev/fd/3',
        ...env,
      },
    })
    if (sockets) {
      this.#output = this.#child.stdio[3]
    } else {
      closeSync(stdio[0])
      closeSync(stdio[3])
    }
    for (const name of ['stdout', 'stderr']) {
      this.#child[name].setEncoding('utf8').on('data', (text) => {
        this[name] += text
      })
    }
    this.exit = new Promise((resolve) => this.#child.once('exit', (code, signal) => resolve(code ?? signal)))
    this.ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.pid = this.#child.pid
    this.#read()
  }

  /** Named pipes, since node connects its children with sockets, which a server does not. */
  #pipes(root) {
    const names = ['in', 'out'].map((name) => join(root, `.pipe-${name}`))
    execFileSync('mkfifo', names)
    const [toWorker, fromWorker] = names.map((name) => {
      // An end opened for reading and writing does not block for the other end.
      const both = openSync(name, 'r+')
      const ends = { read: openSync(name, 'r'), write: openSync(name, 'w') }
      closeSync(both)
      return ends
    })
    this.#input = toWorker.write
    this.#output = new Socket({ fd: fromWorker.read, readable: true, writable: false })
    return [toWorker.read, 'pipe', 'pipe', fromWorker.write]
  }

  #read() {
    let text = ''
    this.#output.setEncoding('utf8')
    this.#output.on('data', (piece) => {
      text += piece
      const lines = text.split('\n')
      text = lines.pop()
      for (const line of lines) this.#frames.push(JSON.parse(line))
      this.#serve()
    })
    this.#output.on('close', () => {
      this.#frames.push(undefined)
      this.#serve()
    })
  }

  #serve() {
    while (this.#readers.length > 0 && this.#frames.length > 0) this.#readers.shift()(this.#frames.shift())
  }

  /** The next frame of the worker; undefined once it has closed its pipe. */
  async next() {
    let timer
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no frame came\n${this.stdout}${this.stderr}`)), PATIENCE_MS)
    })
    const frame = new Promise((resolve) => this.#readers.push(resolve))
    this.#serve()
    return Promise.race([frame, late]).finally(() => clearTimeout(timer))
  }

  send(frame) {
    const line = `${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`
    if (this.#input === undefined) this.#child.stdin.write(line)
    else writeSync(this.#input, line)
  }

  /** Sends a call and returns its number. */
  call(what, more = {}) {
    const call = (this.#lastCall += 1)
    this.send({ call, ...what, ...more })
    return call
  }

  /** All frames up to the one that ends this call: { end, notes }, where notes are the others. */
  async untilEnd(call) {
    const notes = []
    for (;;) {
      const frame = await this.next()
      if (frame === undefined) throw new Error(`the worker has ended\n${this.stdout}${this.stderr}`)
      if (frame.call === call && (frame.result || frame.error)) return { end: frame, notes }
      notes.push(frame)
    }
  }

  /** Calls a tool and waits: { result, error, notes }. */
  async tool(name, parameters = {}, more = {}) {
    const { end, notes } = await this.untilEnd(this.call({ tool: name, arguments: parameters }, more))
    return { result: end.result, error: end.error, notes }
  }

  /** The text of a tool's result, which must not be an error. */
  async text(name, parameters, more) {
    const { result, error } = await this.tool(name, parameters, more)
    assert.ok(result && !result.isError, `an error: ${JSON.stringify(result ?? error)}`)
    return result.content.map(({ text }) => text).join('\n')
  }

  /** The text of a tool's failure. */
  async errorText(name, parameters, more) {
    const { result } = await this.tool(name, parameters, more)
    assert.equal(result?.isError, true, `no error: ${JSON.stringify(result)}`)
    return result.content[0].text
  }

  endInput() {
    if (this.#input === undefined) this.#child.stdin.end()
    else closeSync(this.#input)
    this.#input = undefined
  }

  signal(name) {
    this.#child.kill(name)
  }

  kill() {
    this.#child.kill('SIGKILL')
    if (this.#input !== undefined) closeSync(this.#input)
    this.#input = undefined
    this.#output.destroy()
  }
}

/** The log messages of a call, from its frames. */
export function logs(notes) {
  return notes
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => [params.level, params.data])
}
