// Makes `import 'mcp-bash'` and `require('mcp-bash')` find this SDK without an installation, in function
// files and in all their imports, and records which files are loaded.

import * as module from 'node:module'
import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { refuseForeign } from './trusted.mjs'

const SDK_URL = new URL('../../index.mjs', import.meta.url).href
const SDK_NAME = 'mcp-bash'
// Files that plain scripts import as well may name the SDK by its path.
const SDK_PATH = process.env.MCP_SDK_NODE && pathToFileURL(process.env.MCP_SDK_NODE).href

/**
 * Resolves the SDK from now on, and refuses to load files of the project in `root` that other users may have
 * written. The returned function returns the files loaded since.
 */
export function registerSdk(root) {
  if (typeof module.registerHooks === 'function') return registerHere(root)
  if (typeof module.register === 'function') return registerInThread(root)
  // Before 18.19 node has no hook for this; then this is the copy in node_modules, which it finds by itself.
  return () => filesOf(new Set())
}

/** Newer versions run the hooks in this thread, for import and require alike. */
function registerHere(root) {
  const urls = new Set()
  module.registerHooks({
    resolve(specifier, context, next) {
      if (specifier === SDK_NAME) return { url: SDK_URL, format: 'module', shortCircuit: true }
      const found = next(specifier, context)
      if (found.url === SDK_PATH) return { ...found, url: SDK_URL }
      refuseForeign(found.url, root)
      urls.add(found.url)
      return found
    },
    ...(mustStripTypes() ? { load: loadWithoutTypes } : {}),
  })
  return () => filesOf(urls)
}

/** Whether this node can strip types, but does not do so by default: 22.15 to 22.17. */
function mustStripTypes() {
  return !process.features.typescript && typeof module.stripTypeScriptTypes === 'function'
}

function loadWithoutTypes(url, context, next) {
  if (!/\.m?ts$/.test(url)) return next(url, context)
  const { source } = next(url, { ...context, format: 'module' })
  return { format: 'module', source: module.stripTypeScriptTypes(String(source)), shortCircuit: true }
}

/** Older versions run the hooks in a separate thread, and require works differently. */
function registerInThread(root) {
  const { port1, port2 } = new MessageChannel()
  const data = { name: SDK_NAME, path: SDK_PATH, url: SDK_URL, root, port: port2 }
  module.register('./import-hooks.mjs', { parentURL: import.meta.url, data, transferList: [port2] })
  const { Module } = module
  const resolve = Module._resolveFilename
  Module._resolveFilename = function (request, ...rest) {
    if (request === SDK_NAME) return fileURLToPath(SDK_URL)
    const found = resolve.call(this, request, ...rest)
    if (isAbsolute(found)) refuseForeign(pathToFileURL(found).href, root)
    return found
  }
  const urls = new Set()
  return () => {
    for (let got = receiveMessageOnPort(port1); got; got = receiveMessageOnPort(port1)) urls.add(got.message)
    return filesOf(urls)
  }
}

function filesOf(urls) {
  const files = [...urls]
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url.replace(/[?#].*$/, '')))
  return [...new Set([...files, ...Object.keys(module.Module._cache)])]
}
