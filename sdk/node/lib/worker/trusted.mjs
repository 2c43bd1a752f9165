// Refuses to run modules of the project that other users may have written. The server checks the file that a
// worker is started for, and every file that the worker reports as loaded. A module runs when it is imported,
// so it has to be checked before.

import { statSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Throws if other users may have written a file of the project in `root`. Without a project, nothing is checked. */
export function refuseForeign(url, root) {
  if (!root || !url.startsWith('file:')) return
  const path = fileURLToPath(url.replace(/[?#].*$/, ''))
  if (!path.startsWith(root + sep)) return
  // Node itself reports missing files.
  const seen = statSync(path, { throwIfNoEntry: false })
  if (!seen) return
  if (seen.mode & 0o022) {
    const mode = (seen.mode & 0o7777).toString(8).padStart(4, '0')
    throw new Error(
      `${path} is writable by its group or by everyone (mode ${mode}); run \`chmod go-w\` on it`,
    )
  }
  if (seen.uid !== 0 && seen.uid !== process.geteuid())
    throw new Error(
      `${path} belongs to another user (uid ${seen.uid}); only files of your own or of root are used: run \`chown\` on it, or put a copy of your own in its place`,
    )
}
