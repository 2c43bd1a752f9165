// The program of a worker: `node worker.mjs FILE`. Old versions of node must be able to parse it, to report
// that they are too old.

import fs from 'fs'
import module from 'module'
import path from 'path'
import { pathToFileURL } from 'url'

const file = process.argv[2]

function refuse(message) {
  const line = JSON.stringify({ failed: { message } }) + '\n'
  try {
    fs.writeSync(3, line)
  } catch (error) {
    // Started by hand: there is no descriptor 3.
  }
  fs.writeSync(2, message + '\n')
  process.exit(1)
}

const version = process.versions.node.split('.').map(Number)

if (version[0] < 18)
  refuse('mcp-bash needs node 18 or newer to run functions, and this is ' + process.version)
if (!file) refuse('usage: node worker.mjs FILE, started by mcp-bash')

/** 18.0 to 18.18 have no hook to resolve this SDK, so a copy in node_modules is used, which node finds by itself. */
function installedWorker() {
  try {
    return module.createRequire(path.resolve(file)).resolve('mcp-bash/worker')
  } catch (error) {
    return refuse(
      'node ' +
        process.version +
        ' finds mcp-bash only after: npm install mcp-bash; or use node 18.19 or newer',
    )
  }
}

const canRegister = typeof module.register === 'function' || typeof module.registerHooks === 'function'

// Where the server has laid out the SDK, one file has all its modules: node takes longer to find them than to run them.
const bundle = new URL('./bundle.mjs', import.meta.url)

if (canRegister) import(fs.existsSync(bundle) ? bundle.href : './lib/worker/start.mjs')
else
  import(new URL('./lib/worker/serve.mjs', pathToFileURL(installedWorker())).href).then(({ serve }) =>
    serve(path.resolve(file)),
  )
