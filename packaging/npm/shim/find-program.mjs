// Finds the program for this machine. What is missing is said in words, with the next step.
import { accessSync, closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
const NAME = 'mcp-bash-'

/** @returns {{ program?: string, problem?: string }} */
export function findProgram(machine = `${process.platform}-${process.arch}`) {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const supported = Object.keys(manifest.optionalDependencies).map((name) => name.slice(NAME.length))
  if (!supported.includes(machine)) {
    return {
      problem: `there is no program for ${machine} on npm, only for ${supported.join(' and ')}. ${elsewhere(machine)}`,
    }
  }
  const folder = folderOf(machine)
  if (!folder) return { problem: notInstalled(machine, supported, manifest.version) }
  const program = join(folder, 'bin/mcp-bash')
  try {
    accessSync(program, constants.X_OK)
  } catch (error) {
    if (error.code === 'ENOENT') return { problem: `${program} is missing. Install mcp-bash again.` }
    return { problem: `${program} may not be executed (${error.code}). Run: chmod +x '${program}'` }
  }
  const built = machinesOf(program)
  if (built.length && !built.includes(machine)) {
    return { problem: `${program} is a program for ${built.join(' and ')}, and this machine is ${machine}. Install mcp-bash again, on this machine.` }
  }
  return { program }
}

function elsewhere(machine) {
  if (machine.startsWith('win32')) return 'On Windows, use it inside WSL 2.'
  return 'Build it from its sources with cargo.'
}

function notInstalled(machine, supported, version) {
  const others = supported.filter((one) => one !== machine && folderOf(one))
  const why = others.length
    ? `the installed packages are for ${others.join(' and ')}: this folder was installed on another machine`
    : 'optional dependencies were left out (`--omit=optional`, `--no-optional`), or the lock file was made on another machine'
  return (
    `the package ${NAME}${machine} is not installed, which holds the program for this machine. ` +
    `Probably ${why}.\nInstall it again: npm install --include=optional mcp-bash@${version}`
  )
}

function folderOf(machine) {
  try {
    return dirname(require.resolve(`${NAME}${machine}/package.json`))
  } catch {
    return undefined
  }
}

// The numbers of processors in files of Linux and of macOS.
const LINUX = { 62: 'linux-x64', 183: 'linux-arm64' }
const MACOS = { 0x01000007: 'darwin-x64', 0x0100000c: 'darwin-arm64' }
const ONE_PROCESSOR = 0xfeedfacf
const UNIVERSAL = 0xcafebabe

/** The machines that a program was built for, as far as we know them. */
function machinesOf(program) {
  const header = Buffer.alloc(64)
  const file = openSync(program, 'r')
  try {
    readSync(file, header, 0, header.length, 0)
  } finally {
    closeSync(file)
  }
  let found = []
  if (header.toString('latin1', 0, 4) === '\x7fELF') {
    found = [LINUX[header.readUInt16LE(18)]]
  } else if (header.readUInt32LE(0) === ONE_PROCESSOR) {
    found = [MACOS[header.readUInt32LE(4)]]
  } else if (header.readUInt32BE(0) === UNIVERSAL) {
    // Two parts at most, because there are two processors.
    const parts = Math.min(header.readUInt32BE(4), 2)
    found = Array.from({ length: parts }, (_, part) => MACOS[header.readUInt32BE(8 + 20 * part)])
  }
  return found.filter(Boolean)
}
