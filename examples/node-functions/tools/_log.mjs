// The access log, line by line. A file whose name starts with `_` is a helper, not a tool.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

const FILE = new URL('../data/access.jsonl', import.meta.url)

/**
 * @typedef {object} Request
 * @property {number} id
 * @property {string} time
 * @property {string} method
 * @property {string} path
 * @property {number} status
 * @property {number} ms
 */

/** All requests of the log.
 * @returns {Promise<Request[]>} */
export async function readLog() {
  const requests = []
  for await (const line of createInterface({ input: createReadStream(FILE) })) {
    if (line.trim() !== '') requests.push(JSON.parse(line))
  }
  return requests
}

/** The value below which a share of the numbers is. */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}
