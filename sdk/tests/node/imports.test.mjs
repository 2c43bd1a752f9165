// How 'mcp-bash' is found without an installation, and which files a worker reports as loaded.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SDK, failure, project, ready, start } from './host.mjs'

const [major, minor] = process.versions.node.split('.').map(Number)
const canRequireModules = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)

test('in modules that a function file imports, now and later', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import { say } from '../lib/now.mjs'
    export const now = tool('x', {}, () => say())
    export const later = tool('x', {}, async () => (await import('../lib/later.mjs')).say())`,
    {
      files: {
        'lib/now.mjs':
          "import { log } from 'mcp-bash'\nexport function say() { log.info('now'); return 'said now' }",
        'lib/later.mjs':
          "import { log } from 'mcp-bash'\nexport function say() { log.info('later'); return 'said later' }",
      },
    },
  )
  for (const name of ['now', 'later']) {
    const { result, notes } = await host.tool(name)
    assert.equal(result.content[0].text, `said ${name}`)
    assert.equal(notes[0].params.data, name)
    assert.equal(notes[0].call !== undefined, true)
  }
})

test('ours wins over a copy in node_modules', async (t) => {
  const { tools } = await ready(
    t,
    `import { tool } from 'mcp-bash'\nexport const f = tool('x', {}, () => 1)`,
    {
      files: {
        'node_modules/mcp-bash/package.json': '{"name":"mcp-bash","type":"module","exports":"./index.mjs"}',
        'node_modules/mcp-bash/index.mjs': "throw new Error('the wrong one')",
      },
    },
  )
  assert.equal(tools.length, 1)
})

test('with require, where this node can require ES modules', { skip: !canRequireModules }, async (t) => {
  const host = await start(
    t,
    `const { tool, log } = require('mcp-bash')
    const { say } = require('../lib/helper.cjs')
    exports.f = tool('Adds.', { a: 'number' }, ({ a }) => { say(); return a + 1 })`,
    {
      file: 'tools/f.js',
      files: {
        'lib/helper.cjs':
          "const { log } = require('mcp-bash')\nexports.say = () => log.info('from CommonJS')",
      },
    },
  )
  assert.deepEqual(
    host.first.ready?.tools.map(({ name }) => name),
    ['f'],
    JSON.stringify(host.first),
  )
  const { result, notes } = await host.tool('f', { a: 1 })
  assert.equal(result.content[0].text, '2')
  assert.equal(notes[0].params.data, 'from CommonJS')
  assert.deepEqual(host.first.ready.files, [join(host.root, 'lib/helper.cjs')])
})

test(
  'ES modules in a file that node takes for CommonJS',
  { skip: major >= 22 || canRequireModules },
  async (t) => {
    const said = await failure(
      t,
      "import { tool } from 'mcp-bash'\nexport const f = tool('x', {}, () => 1)",
      { file: 'tools/f.js' },
    )
    assert.match(said, /call the file \.mjs, or put "type": "module" into package\.json$/)
  },
)

test('files of the project are named, packages are not', async (t) => {
  const host = await start(
    t,
    `import { tool } from 'mcp-bash'
    import '../lib/a.mjs'
    import pack from 'pack'
    export const f = tool('x', {}, () => 1)`,
    {
      files: {
        'lib/a.mjs':
          "import './b.mjs?query'\nimport { readFileSync } from 'node:fs'\nimport { createRequire } from 'node:module'\ncreateRequire(import.meta.url)('./c.cjs')",
        'lib/b.mjs': '',
        'lib/c.cjs': '',
        'lib/unused.mjs': '',
        'node_modules/pack/package.json': '{"name":"pack","type":"module","exports":"./index.mjs"}',
        'node_modules/pack/index.mjs': 'export default 1',
      },
    },
  )
  assert.deepEqual(
    [...host.first.ready.files].sort(),
    ['a.mjs', 'b.mjs', 'c.cjs'].map((name) => join(host.root, 'lib', name)),
  )
})

test('tests of the person find it with register.mjs, and can call functions as they are', async (t) => {
  const root = project(t, {
    'sums.mjs':
      "import { tool } from 'mcp-bash'\nexport const add = tool('Adds.', { a: 'number', b: 'number' }, ({ a, b }) => a + b)",
    'check.mjs': "import { add } from './sums.mjs'\nconsole.log(add({ a: 1, b: 2 }))",
  })
  const said = execFileSync(process.execPath, ['--import', join(SDK, 'register.mjs'), 'check.mjs'], {
    cwd: root,
    encoding: 'utf8',
  })
  assert.equal(said, '3\n')
})

test('started by hand, it says what it is for', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(SDK, 'worker.mjs')], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.equal(stderr, 'usage: node worker.mjs FILE, started by mcp-bash\n')
})

test('the package holds what it exports', (t) => {
  const root = project(t, { 'use.mjs': "import { tool } from 'mcp-bash'\nconsole.log(typeof tool)" })
  const { files, exports, dependencies } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8'))
  assert.equal(dependencies, undefined)
  for (const name of [...files, 'package.json'])
    cpSync(join(SDK, name), join(root, 'node_modules/mcp-bash', name), { recursive: true })
  assert.equal(execFileSync(process.execPath, ['use.mjs'], { cwd: root, encoding: 'utf8' }), 'function\n')
  assert.ok(exports['./worker'])
})
