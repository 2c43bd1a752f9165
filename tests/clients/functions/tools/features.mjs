// Every feature of the SDK for Node.js, for the sessions of the official clients. `features.py` has the same in Python.

import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Declined, ProtocolError, ToolError, ask, askAll, askRoots, assistant, audio, confirm, embedded, image, instructions, keep, link, log, progress,
  prompt, resource, sample, text, tool, user,
} from 'mcp-bash'

const PIXEL = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const SOUND = Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1')

instructions('Node.js is here.')

export const node_add = tool(
  {
    title: 'Adder of Node.js',
    description: 'Adds two numbers.',
    input: { a: 'integer - what is added to', b: { type: 'integer', minimum: 0, default: 1, description: 'what is added' } },
    output: 'integer',
    annotations: { readOnlyHint: true },
  },
  ({ a, b }) => a + b,
)

export const node_place = tool(
  {
    description: 'Tells of a place as data.',
    input: { name: 'string', unit: { enum: ['C', 'F'], default: 'C' } },
    output: { name: 'string', degrees: 'number', tags: 'string[]' },
  },
  ({ name, unit }) => ({ name, degrees: unit === 'F' ? 70.7 : 21.5, tags: ['warm'] }),
)

export const node_contents = tool('Returns every kind of content.', {}, () => [
  text('a text'),
  image(PIXEL),
  audio(SOUND, 'audio/wav'),
  embedded('note://embedded', 'an embedded text', 'text/plain'),
  link('note://linked', { name: 'linked', mimeType: 'text/plain' }),
])

export const node_fail = tool('Fails in one of two ways.', { how: ['raise', 'advise'] }, ({ how }) => {
  if (how === 'advise') throw new ToolError('there is no such day', { hint: 'use YYYY-MM-DD' })
  throw new RangeError('there is no such month')
})

export const node_steps = tool('Takes steps and tells of each.', { count: 'integer' }, async ({ count }) => {
  for (let step = 1; step <= count; step += 1) {
    progress(step, count, `step ${step}`)
    // A library may forget who wanted to hear of it as soon as it has read the result.
    await sleep(20)
  }
  return `Took ${count} steps.`
})

export const node_talk = tool('Says something in the log before it is done.', {}, () => {
  console.log('printed words')
  log.info('first words')
  log.warning({ message: 'second words', number: 2 })
  return 'Said it.'
})

export const node_introduce = tool('Asks for a name, and for what else there is to know.', {}, async () => {
  try {
    const { value } = await ask('What is your name?', { value: 'string' })
    return `${value}, well: ${(await confirm(`Are you well, ${value}?`)) ? 'yes' : 'no'}`
  } catch (error) {
    if (error instanceof Declined) return 'Nobody.'
    throw error
  }
})

export const node_ask_both = tool('Asks two questions at once.', {}, async () => {
  const { who, sure } = await askAll({ who: 'Who?', sure: { message: 'Sure?', fields: { confirmed: 'boolean' } } })
  return `${who.value} ${sure.confirmed ? 'yes' : 'no'}`
})

export const node_summarise = tool('Has the model of the client summarise a text.', { text: 'string' }, async ({ text }) => {
  return `The model says: ${(await sample(`Summarise: ${text}`, { maxTokens: 100 })).text}`
})

export const node_folders = tool({ description: 'Tells which folders the client has open.', input: {}, output: 'string[]' }, async () =>
  (await askRoots()).map(({ uri }) => uri),
)

export const node_wait = tool('Waits until nobody waits for it.', { file: 'string' }, ({ file }, { signal, progress }) => {
  writeFileSync(file, `${process.pid}\n`)
  progress(1)
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      writeFileSync(`${file}.ended`, 'ended')
      reject(signal.reason)
    })
  })
})

export const node_echo = tool('Says a word again.', { word: 'string' }, ({ word }) => word)

const counter = keep(
  () => ({ count: 0 }),
  () => appendFileSync(join(process.env.MCPBASH_PROJECT_ROOT, 'node-ended'), 'ended\n'),
)

export const node_count = tool({ description: 'Counts its calls in this process.', input: {}, output: 'integer' }, async () => {
  return ((await counter()).count += 1)
})

export const node_config = resource('node://config', { description: 'The configuration.', mimeType: 'application/json' }, () => ({
  language: 'node', 'zoë': true,
}))

export const node_bytes = resource('node://bytes', { description: 'A picture.', mimeType: 'image/png' }, () => PIXEL)

export const node_greeting = resource(
  'node://greeting/{name}',
  { description: 'Greets by name.', mimeType: 'text/plain' },
  ({ name }) => {
    if (name === 'nobody') throw new ProtocolError(-32002, 'there is nobody')
    return `Hello, ${name}!`
  },
)

export const node_letter = prompt('A letter.', { name: 'string - whom it is to', tone: { enum: ['kind', 'stern'], default: 'kind' } }, ({
  name, tone,
}) => [user(`Write a ${tone ?? 'kind'} letter to ${name}.`), assistant(`Dear ${name},`)])
