// Keeps modules of the project from being run that others may have written. The server judges the file that a worker is started
// for, and every file that the worker says it has loaded. A module runs when it is imported, so it has to be judged before.

import { statSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Throws where others may have written a file of the project in `root`. Where there is no project, nothing is judged. */
export function refuseForeign(url, root) {
  if (!root || !url.startsWith('file:')) return
  const path = fileURLToPath(url.replace(/[?#].*$/, ''))
  if (!path.startsWith(root + sep)) return
  // Node says itself what it does not find.
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
