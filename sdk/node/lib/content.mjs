// The parts of a result besides plain values: text, images, audio, embedded resources, links, messages.

import { readFileSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { stringify } from './json.mjs'

/** One content item of the protocol. A class, so that a plain object with a member `type` is not mistaken for one. */
export class Content {
  constructor(item, { annotations, meta } = {}) {
    Object.assign(this, item)
    if (annotations !== undefined) this.annotations = annotations
    if (meta !== undefined) this._meta = meta
  }
}

/** A message of a prompt. */
export class Message {
  constructor(role, content) {
    this.role = role
    this.content = asContent(content)
  }
}

/** A whole result, for content and structured content that differ. */
export class Result {
  constructor({ content, structured, isError = false, meta }) {
    this.content = content
    this.structured = structured
    this.isError = isError
    this.meta = meta
  }
}

export function text(value, extras) {
  return new Content({ type: 'text', text: String(value) }, extras)
}

/** An image: bytes, or the path of a file. Without a type, its first bytes or its name decide. */
export function image(data, mimeType, extras) {
  return media('image', data, mimeType, extras)
}

/** Audio: bytes, or the path of a file. */
export function audio(data, mimeType, extras) {
  return media('audio', data, mimeType, extras)
}

/** embedded(path), or embedded(uri, text or bytes, type): a resource inside the result. */
export function embedded(name, data, mimeType, extras) {
  if (data !== undefined)
    return new Content({ type: 'resource', resource: contentsOf(name, data, mimeType) }, extras)
  const bytes = readFileSync(name)
  const type = mimeType ?? typeOfName(name) ?? typeOfBytes(bytes)
  const value = isText(type) ? bytes.toString() : bytes
  const uri = pathToFileURL(resolve(name)).href
  return new Content({ type: 'resource', resource: contentsOf(uri, value, type) }, extras)
}

/** A resource that the client can read if it wants to: link(uri, { name, title, description, mimeType, size }). */
export function link(uri, { name = basename(uri), annotations, meta, ...fields } = {}) {
  return new Content({ type: 'resource_link', uri, name, ...fields }, { annotations, meta })
}

export function result(parts) {
  return new Result(parts)
}

export function user(content) {
  return new Message('user', content)
}

export function assistant(content) {
  return new Message('assistant', content)
}

/** Anything as one content item: content unchanged, bytes by their type, other values as text. */
export function asContent(value) {
  if (value instanceof Content) return value
  if (typeof value === 'string') return { type: 'text', text: value }
  const bytes = asBytes(value)
  if (bytes) return bytesContent(bytes)
  return {
    type: 'text',
    text: typeof value === 'object' && value !== null ? stringify(value) : String(value),
  }
}

/** The contents of a resource by its URI, as in the protocol: text, or bytes in Base64. */
export function contentsOf(uri, value, mimeType) {
  const bytes = asBytes(value)
  if (bytes)
    return {
      uri,
      mimeType: mimeType ?? typeOfBytes(bytes) ?? 'application/octet-stream',
      blob: bytes.toString('base64'),
    }
  if (typeof value === 'string')
    return { uri, mimeType: mimeType ?? typeOfName(uri) ?? 'text/plain', text: value }
  return { uri, mimeType: mimeType ?? 'application/json', text: stringify(value ?? null) }
}

/** Bytes as a Buffer over the same memory, undefined for anything else. */
export function asBytes(value) {
  if (Buffer.isBuffer(value)) return value
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return Buffer.from(value)
  return undefined
}

function bytesContent(bytes) {
  const mimeType = typeOfBytes(bytes)
  const kind = mimeType?.split('/')[0]
  if (kind === 'image' || kind === 'audio')
    return new Content({ type: kind, data: bytes.toString('base64'), mimeType })
  return new Content({ type: 'resource', resource: contentsOf('result:bytes', bytes, mimeType) })
}

function media(type, data, mimeType, extras) {
  const bytes = asBytes(data)
  if (bytes) return mediaContent(type, bytes, mimeType ?? typeOfBytes(bytes), extras)
  if (typeof data !== 'string')
    throw new TypeError(`${type}() needs bytes or the path of a file, not ${inspect(data)}`)
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(data)
  if (inline) return new Content({ type, data: inline[2], mimeType: mimeType ?? inline[1] }, extras)
  const read = readFileSync(data)
  return mediaContent(type, read, mimeType ?? typeOfBytes(read) ?? typeOfName(data), extras)
}

function mediaContent(type, bytes, mimeType, extras) {
  if (mimeType === undefined)
    throw new TypeError(`the type of this ${type} is not known: give it, as in ${type}(data, '${type}/…')`)
  return new Content({ type, data: bytes.toString('base64'), mimeType }, extras)
}

function isText(mimeType = '') {
  return /^text\/|[/+](json|xml|yaml|javascript)$/.test(mimeType)
}

const TYPES_BY_NAME = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  css: 'text/css',
  csv: 'text/csv',
  js: 'text/javascript',
  mjs: 'text/javascript',
  ts: 'text/typescript',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  pdf: 'application/pdf',
  zip: 'application/zip',
}

function typeOfName(name) {
  return TYPES_BY_NAME[extname(name).slice(1).toLowerCase()]
}

// The first bytes of each file type, in latin1; dots match any byte.
const TYPES_BY_START = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8/, 'image/gif'],
  [/^RIFF....WEBP/s, 'image/webp'],
  [/^RIFF....WAVE/s, 'audio/wav'],
  [/^(ID3|\xff[\xfb\xf3\xf2])/, 'audio/mpeg'],
  [/^OggS/, 'audio/ogg'],
  [/^fLaC/, 'audio/flac'],
  [/^%PDF-/, 'application/pdf'],
]

function typeOfBytes(bytes) {
  const start = bytes.toString('latin1', 0, 12)
  return TYPES_BY_START.find(([pattern]) => pattern.test(start))?.[1]
}
