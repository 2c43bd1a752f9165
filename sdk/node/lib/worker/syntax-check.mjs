// Finds the place of a syntax error. Node knows it, but prints it only on standard error and not in the
// import error.

import { spawnSync } from 'node:child_process'

// One process for each checked file.
const MOST_FILES = 20

/** The place of the first syntax error in these files, undefined if there is none. */
export function syntaxErrorIn(files) {
  for (const file of files.slice(0, MOST_FILES)) {
    const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 5000 })
    const line = /^(?:file:\/\/)?\/.*:(\d+)$/m.exec(stderr ?? '')?.[1]
    if (line !== undefined) return { file, line: Number(line) }
  }
  return undefined
}
