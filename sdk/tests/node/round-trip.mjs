// The time of a trivial call, compared with the same lines through a program that only returns them (cat):
//
//     node sdk/tests/node/round-trip.mjs [CALLS]
//
// Both ends read and write blocking, so that the difference is only the worker's own time.

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, closeSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SDK } from './host.mjs'

const calls = Number(process.argv[2] ?? 20000)
const root = mkdtempSync(join(tmpdir(), 'mcp-round-trip-'))

const SOURCE = `import { tool } from 'mcp-bash'
export const add = tool('Adds.', { a: 'number', b: 'number' }, ({ a, b }) => a + b)
export const slowly = tool('Adds.', { a: 'number', b: 'number' }, async ({ a, b }) => a + b)
`

function pipe(name) {
  const path = join(root, name)
  execFileSync('mkfifo', [path])
  const both = openSync(path, 'r+')
  const ends = { read: openSync(path, 'r'), write: openSync(path, 'w') }
  closeSync(both)
  return ends
}

function run(name, words, stdio, frame, hasReady) {
  const to = pipe(`${name}-in`)
  const from = pipe(`${name}-out`)
  const child = spawn(words[0], words.slice(1), { cwd: root, stdio: stdio(to.read, from.write) })
  closeSync(to.read)
  closeSync(from.write)
  const buffer = Buffer.allocUnsafe(65536)
  const line = () => {
    let text = ''
    while (!text.endsWith('\n')) text += buffer.toString('utf8', 0, readSync(from.read, buffer))
    return text
  }
  if (hasReady) line()
  const times = []
  for (let call = 1; call <= calls; call += 1) {
    const start = process.hrtime.bigint()
    writeSync(to.write, frame(call))
    line()
    times.push(Number(process.hrtime.bigint() - start) / 1000)
  }
  child.kill('SIGKILL')
  const sorted = times.slice(calls / 10).sort((a, b) => a - b)
  const at = (part) => sorted[Math.floor(sorted.length * part)]
  return { p50: at(0.5), p99: at(0.99) }
}

writeFileSync(join(root, 'f.mjs'), SOURCE)
const frame = (tool) => (call) =>
  `{"call":${call},"tool":"${tool}","arguments":{"a":1,"b":2},"progress":true}\n`
const worker = [process.execPath, join(SDK, 'worker.mjs'), 'f.mjs']
const asWorker = (input, output) => [input, 'inherit', 'inherit', output]
const results = {
  'cat (the pipes alone)': run(
    'cat',
    ['cat'],
    (input, output) => [input, output, 'inherit'],
    frame('add'),
    false,
  ),
  'a function': run('sync', worker, asWorker, frame('add'), true),
  'an async function': run('async', worker, asWorker, frame('slowly'), true),
}
for (const [name, { p50, p99 }] of Object.entries(results))
  console.log(`${name}: p50 ${p50.toFixed(1)} µs, p99 ${p99.toFixed(1)} µs`)
rmSync(root, { recursive: true })
