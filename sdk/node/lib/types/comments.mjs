// Reads comments: their text, and the tags of JSDoc.

/** The text of a comment without its markers. */
export function commentText(comment) {
  if (comment.startsWith('//')) return comment.slice(2).trim()
  return comment
    .replace(/^\/\*+/, '')
    .replace(/\*+\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, ''))
    .join('\n')
    .trim()
}

// Tags that describe a value further than its type.
const NUMBERS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]
const TEXTS = ['pattern', 'format', 'title']

/** The description, the tags, and both as schema members. */
export function parseComment(text) {
  const [before, ...rest] = text.split(/^[ \t]*@(?=\w)/m)
  const description = oneParagraph(before)
  const tags = rest.map((tag) => {
    const [, name, body] = /^(\w+)\s*([^]*)$/.exec(tag)
    return { name, body: body.trim() }
  })
  const schema = description === '' ? {} : { description }
  for (const { name, body } of tags) {
    if (NUMBERS.includes(name) && body !== '' && Number.isFinite(Number(body))) schema[name] = Number(body)
    else if (TEXTS.includes(name) && body !== '') schema[name] = body
    else if (name === 'integer') schema.type = 'integer'
    else if (name === 'default' && body !== '') schema.default = literal(body)
  }
  return { description, tags, schema }
}

/** `{type} [name=default] - description`, the body of @param and @property. The type in braces is optional. */
export function parseParameter(body) {
  const { type, rest } = takeType(body)
  const found = /^\[\s*([\w$.]+)\s*(?:=\s*([^]*?))?\s*\](?:\s*-)?\s*([^]*)$/.exec(rest)
  if (found) {
    const [, name, value, description] = found
    return {
      type,
      name,
      optional: true,
      value: value && literal(value),
      description: oneParagraph(description),
    }
  }
  const [, name = '', description = ''] = /^([\w$.]+)(?:\s*-)?\s*([^]*)$/.exec(rest) ?? []
  return { type, name, optional: false, description: oneParagraph(description) }
}

/** A type in braces at the start of a text, and the rest. */
export function takeType(body) {
  if (!body.startsWith('{')) return { type: undefined, rest: body }
  let depth = 0
  for (let at = 0; at < body.length; at += 1) {
    if (body[at] === '{') depth += 1
    if (body[at] === '}') depth -= 1
    if (depth === 0) return { type: body.slice(1, at).trim(), rest: body.slice(at + 1).trim() }
  }
  return { type: undefined, rest: body }
}

/** Lines of one paragraph are joined; paragraphs stay separate. */
function oneParagraph(text) {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s*\n\s*/g, ' '))
    .join('\n\n')
}

function literal(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text.replace(/^(['"`])(.*)\1$/s, '$2')
  }
}
