// Splits JavaScript and TypeScript into tokens: enough to find functions, types and the comments before them.
// Other syntax errors do not matter, since node has already loaded the file.

const SPACE = /\s+/y
const NAME = /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy
const NUMBER = /\d[\w.]*/y
const STRING = /'(?:[^'\\\n]|\\[^])*'?|"(?:[^"\\\n]|\\[^])*"?/y
const LINE_COMMENT = /\/\/[^\n]*/y
const BLOCK_COMMENT = /\/\*[^]*?(?:\*\/|$)/y
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y
const PUNCTUATION = /=>|\.\.\.|[^]/y

// A slash after these begins a regular expression; after other words and closing brackets it divides.
const WORDS_BEFORE_REGEX = new Set(
  'return typeof case in of delete void throw new else do yield await instanceof'.split(' '),
)

/**
 * The tokens of a text: { kind, text, start, end, comments }, where kind is name, number, string, template,
 * regex, mark or end, and comments are those between it and the previous token.
 */
export function tokensOf(source) {
  const tokens = []
  let comments = []
  let at = 0

  const match = (pattern) => {
    pattern.lastIndex = at
    return pattern.exec(source)?.[0]
  }
  const add = (kind, text) => {
    tokens.push({ kind, text, start: at, end: at + text.length, comments })
    comments = []
    at += text.length
  }

  while (at < source.length) {
    const space = match(SPACE)
    if (space) {
      at += space.length
      continue
    }
    const comment = match(LINE_COMMENT) ?? match(BLOCK_COMMENT)
    if (comment) {
      comments.push({ text: comment, start: at, end: at + comment.length })
      at += comment.length
      continue
    }
    const character = source[at]
    if (character === '`') add('template', source.slice(at, templateEnd(source, at)))
    else if (character === "'" || character === '"') add('string', match(STRING))
    else if (character === '/' && mayBeginRegex(tokens[tokens.length - 1]) && match(REGEX))
      add('regex', match(REGEX))
    else if (match(NUMBER)) add('number', match(NUMBER))
    else if (match(NAME)) add('name', match(NAME))
    else add('mark', match(PUNCTUATION))
  }
  add('end', '')
  return tokens
}

function mayBeginRegex(before) {
  if (before === undefined) return true
  if (before.kind === 'name') return WORDS_BEFORE_REGEX.has(before.text)
  return before.kind === 'mark' && !')]}'.includes(before.text)
}

/** The end of a template, including nested templates. */
function templateEnd(source, start) {
  let at = start + 1
  while (at < source.length) {
    if (source[at] === '`') return at + 1
    if (source[at] === '\\') at += 2
    else if (source.startsWith('${', at)) at = substitutionEnd(source, at + 2)
    else at += 1
  }
  return at
}

function substitutionEnd(source, start) {
  let depth = 1
  let at = start
  while (at < source.length) {
    const character = source[at]
    if (character === '`') {
      at = templateEnd(source, at)
      continue
    }
    if (character === "'" || character === '"') {
      STRING.lastIndex = at
      at += STRING.exec(source)[0].length
      continue
    }
    if (character === '{') depth += 1
    if (character === '}') depth -= 1
    at += 1
    if (depth === 0) return at
  }
  return at
}

/** The value of a token that is a string. */
export function stringValue({ text }) {
  const inside = text.slice(1, -1)
  if (!inside.includes('\\')) return inside
  const escapes = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', 0: '\0' }
  return inside.replace(
    /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2})|([^]))/gi,
    (_, point, four, two, other) =>
      other === undefined
        ? String.fromCodePoint(parseInt(point ?? four ?? two, 16))
        : (escapes[other] ?? other.replace('\n', '')),
  )
}

/** The line of an offset, from 1. */
export function lineOf(source, offset) {
  let line = 1
  for (let at = source.indexOf('\n'); at !== -1 && at < offset; at = source.indexOf('\n', at + 1)) line += 1
  return line
}

const CLOSING = { '(': ')', '[': ']', '{': '}' }

/** The index after the bracket that closes the one at `index`. */
export function behindBracket(tokens, index) {
  let depth = 0
  for (let at = index; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at]
    if (kind !== 'mark') continue
    if (text in CLOSING) depth += 1
    else if (text === ')' || text === ']' || text === '}') depth -= 1
    if (depth === 0) return at + 1
  }
  return tokens.length - 1
}
