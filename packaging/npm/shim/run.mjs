// Runs the program in place of this process where Node can do that, otherwise as a child that is followed in life and death.
import { spawn } from 'node:child_process'
import { isatty } from 'node:tty'

export function run(program, words) {
  // Since Node 22.15. The client then talks to the program itself, and its signals reach it.
  if (process.execve) process.execve(program, [program, ...words], process.env)
  follow(spawn(program, words, { stdio: 'inherit' }), program)
}

function follow(child, program) {
  const forwarded = {}
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']) {
    // A terminal sends these to both: the child would take a second one for impatience.
    const isFromTerminal = ['SIGINT', 'SIGHUP', 'SIGQUIT'].includes(signal) && isatty(0)
    forwarded[signal] = () => isFromTerminal || child.kill(signal)
    process.on(signal, forwarded[signal])
  }
  // npx dies without telling us. Alone, the program sees that its parent is gone, and decides as if there had been no shim: a
  // server over stdio ends, one over HTTP stays.
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.exit(1), 1000)
  child.on('error', (error) => {
    console.error(`mcp-bash: ${program} cannot be started: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    // Dies as the child did, so that the parent sees the same.
    if (forwarded[signal]) process.off(signal, forwarded[signal])
    process.kill(process.pid, signal)
  })
}
