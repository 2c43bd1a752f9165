// A registry for tests, on this machine only: serves the packages in a folder, all of them versions of mcp-bash.
//
//   registry.mjs FOLDER     prints its address, and ends with its standard input
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const folder = process.argv[2]
const server = createServer((request, response) => {
  const [, name, dash, file] = new URL(request.url, 'http://localhost').pathname.split('/')
  const known = readdirSync(folder).filter((one) => one.endsWith('.tgz'))
  if (name === 'mcp-bash' && dash === '-' && known.includes(file)) {
    response.end(readFileSync(join(folder, file)))
  } else if (name === 'mcp-bash' && dash === undefined) {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(described(known)))
  } else {
    response.statusCode = 404
    response.end('{"error":"not found"}')
  }
})

function described(files) {
  const versions = {}
  for (const file of files) {
    const content = readFileSync(join(folder, file))
    const manifest = JSON.parse(execFileSync('tar', ['-xzOf', join(folder, file), 'package/package.json']))
    const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`
    versions[manifest.version] = { ...manifest, dist: { integrity, tarball: `${address()}/mcp-bash/-/${file}` } }
  }
  // The versions with programs are published with a tag of their own, so that this stays the newest of the others.
  const latest = Object.values(versions).find((one) => one.bin)?.version
  return { name: 'mcp-bash', 'dist-tags': { latest }, versions }
}

function address() {
  return `http://127.0.0.1:${server.address().port}`
}

server.listen(0, '127.0.0.1', () => console.log(address()))
process.stdin.resume().on('end', () => process.exit(0))
