// Checked by a compiler, never run: the types of the SDK infer the arguments of a handler. Expected errors
// are marked.
//
//     tsc -p sdk/tests/node

import {
  CannotAsk,
  Declined,
  ToolError,
  ask,
  askAll,
  assistant,
  choose,
  confirm,
  embedded,
  image,
  keep,
  link,
  log,
  main,
  progress,
  prompt,
  resource,
  result,
  roots,
  sample,
  signal,
  text,
  tool,
  user,
  worker,
} from 'mcp-bash'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(_: Same<A, B>): void {}

worker({ processes: 1, atOnce: 8, sandbox: 'on' })
worker({ sandbox: { network: ['api.github.com:443'], memory: '512M', cpuSecs: 5 } })
// @ts-expect-error There is no such key.
worker({ sandbox: { reads: [] } })

export const add = tool(
  'Adds two numbers.',
  { a: 'number', b: 'integer?' },
  ({ a, b }, { progress, signal }) => {
    same<typeof a, number>(true)
    same<typeof b, number | undefined>(true)
    progress(1, 2, 'half')
    signal.throwIfAborted()
    return a + (b ?? 0)
  },
)
const sum: number = add({ a: 1 })

export const many = tool(
  'x',
  {
    mode: ['fast', 'slow'],
    tags: 'string[]',
    either: 'string|null',
    nested: { x: 'number', 'y?': 'boolean' },
    size: { type: 'integer', minimum: 1, description: 'how large', default: 3 },
    name: 'string? - who it is',
  },
  (args) => {
    same<
      typeof args,
      {
        readonly mode: 'fast' | 'slow'
        readonly tags: string[]
        readonly either: string | null
        readonly nested: { readonly x: number; readonly y?: boolean }
        readonly size?: number
        readonly name?: string
      }
    >(true)
  },
)

export const whole = tool(
  'x',
  {
    type: 'object',
    properties: {
      a: { type: 'string' },
      list: { type: 'array', items: { type: 'number' } },
      kind: { enum: ['x', 'y'] },
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['a', 'list'],
  },
  ({ a, list, kind, either }) => {
    same<typeof a, string>(true)
    same<typeof list, number[]>(true)
    same<typeof kind, 'x' | 'y' | undefined>(true)
    same<typeof either, string | null | undefined>(true)
  },
)

// @ts-expect-error there is no such word
tool('x', { a: 'strin' }, () => 1)
// @ts-expect-error there is no such option
tool({ descripton: 'x' }, () => 1)

export const typed = tool(({ a, b }: { a: number; b: string }): number => a + b.length)
const typedSum: number = typed({ a: 1, b: 'x' })

export const shaped = tool({ input: { n: 'number' }, output: { sum: 'number' } }, async ({ n }) => ({
  sum: n,
}))
// @ts-expect-error the result has another shape
tool({ input: { n: 'number' }, output: { sum: 'number' } }, ({ n }) => ({ total: n }))
export const word = tool({ input: {}, output: 'string[]' }, () => ['a'])

export const profile = resource('users://{id}/profile{?verbose}', 'A profile.', ({ id, verbose }) => {
  same<typeof id, string>(true)
  same<typeof verbose, string>(true)
  return { id }
})
export const config = resource('config://app', { mimeType: 'text/plain' }, () => 'x')

export const review = prompt('Reviews code.', { code: 'string', style: 'string?' }, ({ code, style }) => {
  same<typeof code, string>(true)
  same<typeof style, string | undefined>(true)
  return [user(code), assistant('Well.'), 'And?']
})

const db = keep(
  async () => new Map<string, number>(),
  (map) => map.clear(),
)

export const asks = tool('x', {}, async (_, context) => {
  const { port, host } = await ask('Which port?', { port: 'integer', host: 'string?' })
  same<typeof port, number>(true)
  same<typeof host, string | undefined>(true)
  const where = await choose('Where to?', ['here', 'there'])
  same<typeof where, 'here' | 'there'>(true)
  const quality = await context.choose('Quality?', { hi: 'High', lo: 'Low' }, { multiple: true })
  same<typeof quality, ('hi' | 'lo')[]>(true)
  const sure: boolean = await confirm('Sure?')
  const { text: words } = await sample('Summarise', { system: 'Be brief', maxTokens: 5 })
  const { who, why } = await askAll({ who: { message: 'Who?', fields: { name: 'string' } }, why: 'Why?' })
  const name: string = who.name + why.value
  const size: number | undefined = (await db()).get(words)
  log.info('done', { sure, name, size })
  progress(1, 'done')
  if (roots().length === 0 || signal().aborted) throw new ToolError('no folder', { hint: 'open one' })
  try {
    await context.ask('x', {})
  } catch (error) {
    if (error instanceof Declined || error instanceof CannotAsk) return text('no')
  }
  return [
    image(new Uint8Array(), 'image/png'),
    link('file:///x'),
    embedded('x://y', 'z'),
    result({ structured: { a: 1 } }),
  ]
})

void main(async ({ a }: { a: number }) => a)
void [sum, typedSum]
