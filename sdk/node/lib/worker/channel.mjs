// The two pipes to the server: frames arrive on standard input and are sent on descriptor 3. Both are moved
// to other numbers first, so that a function that reads standard input or writes to descriptor 3 gets
// /dev/null instead. Descriptors that node opens are close-on-exec, and so are those that it was started
// with: children inherit neither pipe.

import { closeSync, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { parse } from '../json.mjs'

const LINE_FEED = 10
const READ_BYTES = 65536

// The default limit of a frame to the server, in bytes.
const USUAL_LIMIT = 10_485_760

/** Opens both ends. `onFrame(frame)` is called for each line, `onEnd()` at the end of the input. */
export function openChannel(onFrame, onEnd) {
  const input = moved(0, 'r')
  const output = moved(3, 'w')
  if (input === 0) hideStandardInput()
  let socket
  return {
    send: sender(output),
    /** The server kills a worker that sends a longer frame than this. */
    limit: Number(process.env.MCPBASH_MAX_TOOL_OUTPUT_SIZE) || USUAL_LIMIT,
    /** Nothing is read before, while the function file is still loading. */
    listen() {
      socket = listen(input, onFrame, onEnd)
    },
    /** Stops reading: later frames of the server are for another worker. */
    stop() {
      socket.pause()
    },
  }
}

/** Another descriptor for the same pipe, with /dev/null in its old place. Sockets cannot be reopened and stay. */
function moved(number, mode) {
  let copy
  try {
    copy = openSync(`/dev/fd/${number}`, mode)
  } catch {
    return number
  }
  closeSync(number)
  // The kernel returns the lowest free number.
  openSync('/dev/null', mode)
  return copy
}

function hideStandardInput() {
  const nothing = new Readable({ read() {} })
  nothing.push(null)
  Object.defineProperty(process, 'stdin', { value: nothing, configurable: true })
}

function listen(fd, onFrame, onEnd) {
  const lines = new Lines(onFrame)
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    // Bytes arrive in the same buffer each time, without the overhead of streams.
    onread: {
      buffer,
      callback: (count) => {
        lines.add(buffer, count)
        return true
      },
    },
  })
  socket.once('close', onEnd)
  socket.on('error', () => socket.destroy())
  return socket
}

/** Assembles frames from pieces. */
class Lines {
  #onFrame
  #pieces = []

  constructor(onFrame) {
    this.#onFrame = onFrame
  }

  add(buffer, count) {
    let start = 0
    for (;;) {
      const end = buffer.indexOf(LINE_FEED, start)
      if (end === -1 || end >= count) break
      this.#line(buffer, start, end)
      start = end + 1
    }
    // The next read overwrites the buffer.
    if (start < count) this.#pieces.push(Buffer.from(buffer.subarray(start, count)))
  }

  #line(buffer, start, end) {
    let text
    if (this.#pieces.length === 0) text = buffer.toString('utf8', start, end)
    else {
      text = Buffer.concat([...this.#pieces, buffer.subarray(start, end)]).toString()
      this.#pieces = []
    }
    let frame
    try {
      frame = parse(text)
    } catch {
      // Unknown frames must be ignored, and this is one.
      return
    }
    if (frame !== null && typeof frame === 'object') this.#onFrame(frame)
  }
}

/** A function that writes one line of JSON completely, however long it takes: frames must not be torn. */
function sender(fd) {
  return (json) => {
    const line = `${json}\n`
    try {
      const written = writeSome(fd, line)
      if (written < line.length || written < Buffer.byteLength(line))
        writeRest(fd, Buffer.from(line), written)
    } catch {
      // The other end is closed, or a function has closed the pipe: there is no way to answer.
      process.reallyExit(1)
    }
  }
}

function writeRest(fd, bytes, from) {
  let pause = 1
  for (let at = from; at < bytes.length;) {
    const written = writeSome(fd, bytes.subarray(at))
    at += written
    pause = written > 0 ? 1 : Math.min(pause * 2, 20)
    if (written === 0) sleep(pause)
  }
}

/** Writes as much as the pipe accepts now, 0 if it is full. */
function writeSome(fd, data) {
  try {
    return writeSync(fd, data)
  } catch (error) {
    if (error.code === 'EAGAIN') return 0
    throw error
  }
}

const nobody = new Int32Array(new SharedArrayBuffer(4))

function sleep(milliseconds) {
  Atomics.wait(nobody, 0, 0, milliseconds)
}
