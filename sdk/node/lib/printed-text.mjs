// Turns printed output into log messages: one for each write that ends a line, as console.log does.

// A line without an end is logged in pieces of this length.
const LONGEST = 65536

export class PrintedText {
  #tell
  #text = ''
  #level = 'info'

  constructor(tell) {
    this.#tell = tell
  }

  add(text, level) {
    if (level !== this.#level) this.flush()
    this.#level = level
    this.#text += text
    const end = this.#text.length > LONGEST ? this.#text.length : this.#text.lastIndexOf('\n') + 1
    if (end === 0) return
    const whole = this.#text.slice(0, end)
    this.#text = this.#text.slice(end)
    this.#say(whole)
  }

  flush() {
    const rest = this.#text
    this.#text = ''
    this.#say(rest)
  }

  #say(text) {
    const data = text.replace(/\n$/, '')
    if (data !== '') this.#tell(data, this.#level)
  }
}
