// The npm package, as seen by a project that installs it.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { SDK } from './host.mjs'

const files = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? files(path) : [path]
  })

const hasNpm = spawnSync('npm', ['--version']).status === 0

test('npm packs all of it, and what it packs can be imported', { skip: !hasNpm }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-bash-package-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const npm = (...words) => execFileSync('npm', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const [packed] = JSON.parse(npm('pack', '--json', '--pack-destination', folder, SDK))
  assert.deepEqual(
    packed.files.map((file) => file.path).sort(),
    files(SDK)
      .map((file) => relative(SDK, file))
      .sort(),
  )
  writeFileSync(join(folder, 'package.json'), '{"private": true}')
  npm('install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename))
  const program = "import { tool } from 'mcp-bash'; import 'mcp-bash/register'; console.log(typeof tool)"
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' })
  assert.equal(said, 'function\n')
})
