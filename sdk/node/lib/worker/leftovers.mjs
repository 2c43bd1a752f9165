// Detects what a call leaves running: timers, servers, processes, watchers. The operator is notified once for
// each tool and kind; connections are not counted, as libraries keep them open on purpose.

const NAMES = {
  Timeout: 'a timer',
  TCPServerWrap: 'a server',
  PipeServerWrap: 'a server',
  UDPWrap: 'a UDP socket',
  ProcessWrap: 'a process',
  FSEventWrap: 'a file watcher',
  StatWatcher: 'a file watcher',
  MessagePort: 'a thread or a message port',
  Worker: 'a thread',
}

export class Leftovers {
  #before = running()
  #told = new Set()

  /** Runs when no call is open: reports anything that runs now and did not before. */
  look(name, tell) {
    const now = running()
    for (const [kind, count] of now) {
      if (count <= (this.#before.get(kind) ?? 0) || this.#told.has(`${name} ${kind}`)) continue
      this.#told.add(`${name} ${kind}`)
      tell(`${name} has left ${NAMES[kind]} running after its end; stop it, or hold it with keep()`)
    }
    this.#before = now
  }

  /** Everything running now was started on purpose. */
  accept() {
    this.#before = running()
  }
}

function running() {
  const counts = new Map()
  for (const kind of process.getActiveResourcesInfo?.() ?? []) {
    if (Object.hasOwn(NAMES, kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}
