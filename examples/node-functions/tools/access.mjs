// Questions about the access log of a web shop: three tools, a resource, a family of resources and a prompt.

import { instructions, keep, NotFound, prompt, resource, tool, ToolError } from 'mcp-bash'
import { quantile, readLog } from './_log.mjs'

instructions('Begin with latency. Times are in milliseconds.')

// Read once: all calls of this process share it.
const requests = keep(readLog)

const readOnly = { readOnlyHint: true, openWorldHint: false }

export const latency = tool(
  {
    description: 'How long requests take, for each path, slowest first. Use it to find what makes the shop slow.',
    input: {
      method: { type: 'string', enum: ['GET', 'POST', 'any'], default: 'any', description: 'Only requests of this method' },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: 10, description: 'How many paths at most' },
    },
    output: {
      paths: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            requests: { type: 'integer' },
            median: { type: 'number' },
            p95: { type: 'number' },
          },
          required: ['path', 'requests', 'median', 'p95'],
        },
      },
    },
    annotations: readOnly,
  },
  async ({ method, limit }, { progress }) => {
    const wanted = (await requests()).filter((request) => method === 'any' || request.method === method)
    const names = [...new Set(wanted.map(({ path }) => path))].sort()
    const paths = names.map((path, index) => {
      const times = wanted.filter((request) => request.path === path).map(({ ms }) => ms)
      progress(index + 1, names.length, path)
      return { path, requests: times.length, median: quantile(times, 0.5), p95: quantile(times, 0.95) }
    })
    return { paths: paths.sort((a, b) => b.p95 - a.p95).slice(0, limit) }
  },
)

export const errors = tool(
  {
    description: 'Requests that were answered with an error, newest first.',
    input: { path: 'string? - Only those for this path, for example /checkout' },
    annotations: readOnly,
  },
  async ({ path }, { log }) => {
    const all = await requests()
    if (path !== undefined && !all.some((request) => request.path === path)) {
      const known = [...new Set(all.map((request) => request.path))].sort()
      throw new ToolError(`Nobody asked for ${path}`, { hint: `There are: ${known.join(', ')}` })
    }
    const found = all.filter((request) => request.status >= 500 && (path ?? request.path) === request.path)
    log.info(`${found.length} of ${all.length} requests failed`)
    return { requests: found.reverse() }
  },
)

/**
 * How many requests of a status there were in each minute of an hour.
 * @param {object} args
 * @param {200 | 404 | 500} args.status - The status of the answer
 * @param {number} [args.hour=9] - The hour of the day
 * @returns {Record<string, number>}
 */
export const per_minute = tool({ annotations: readOnly }, async ({ status, hour = 9 }) => {
  const counts = {}
  for (const request of await requests()) {
    const time = new Date(request.time)
    if (request.status !== status || time.getUTCHours() !== hour) continue
    const minute = request.time.slice(11, 16)
    counts[minute] = (counts[minute] ?? 0) + 1
  }
  return counts
})

export const paths = resource('log://paths', 'The paths that were asked for.', async () => [
  ...new Set((await requests()).map(({ path }) => path)),
].sort())

export const request = resource('log://requests/{id}', 'One request by its number.', async ({ id }) => {
  const found = (await requests()).find((request) => String(request.id) === id)
  if (!found) throw new NotFound(`There is no request ${id}`)
  return found
})

export const explain_errors = prompt(
  'Asks why a path fails.',
  { path: 'string - The path, for example /checkout' },
  async ({ path }) => {
    const failed = (await requests()).filter((request) => request.path === path && request.status >= 500)
    const lines = failed.map((request) => JSON.stringify(request)).join('\n')
    return `These requests for ${path} failed:\n${lines}\nWhat do they have in common?`
  },
)
