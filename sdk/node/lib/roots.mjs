// The client's roots, and whether a path is inside one of them. A client without a session sends them only on
// request, which takes an `await`; until then the project's roots apply.

import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { currentCall } from './current-call.mjs'
import { ToolError } from './errors.mjs'

/** The known roots: [{ uri, name, path }]. */
export function roots() {
  return rootsOf(currentCall())
}

/** The same, after asking a client that has not sent them yet. */
export function askRoots() {
  return askRootsOf(currentCall())
}

/** The path, absolute and with links resolved. Throws a ToolError if it is outside the known roots. */
export function insideRoots(path) {
  return insideRootsOf(currentCall(), path)
}

/** The same, after asking a client that has not sent its roots yet. */
export function askInsideRoots(path) {
  return askInsideRootsOf(currentCall(), path)
}

export function rootsOf(call) {
  if (call.rootsRefused) throw new ToolError(`the client's folders are not known: ${call.rootsRefused}`)
  return call.roots
}

export async function askRootsOf(call) {
  await call.learnRoots()
  return rootsOf(call)
}

export function insideRootsOf(call, path) {
  const real = realPath(resolve(path))
  const folders = rootsOf(call).flatMap((root) => (root.path ? [realPath(root.path)] : []))
  if (folders.some((folder) => real === folder || real.startsWith(folder === sep ? sep : folder + sep)))
    return real
  const named = folders.join(', ') || 'none'
  const unasked = call.hasUnaskedRoots
    ? '; the client was not asked for its own: `await askInsideRoots(path)` asks'
    : ''
  throw new ToolError(`${path} is outside the open folders (${named})${unasked}`, { type: 'forbidden' })
}

export async function askInsideRootsOf(call, path) {
  await call.learnRoots()
  return insideRootsOf(call, path)
}

/** With links resolved, as far as the path exists. */
function realPath(path) {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), basename(path))
  }
}
