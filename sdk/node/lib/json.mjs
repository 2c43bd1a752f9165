// The original JSON functions, before any function of a worker could replace them: a frame must be valid
// whatever they do to globals.

const { stringify: write, parse } = JSON

export { parse }

/** A value as JSON that every parser accepts: a lone surrogate, such as half an emoji, becomes U+FFFD. */
export function stringify(value) {
  const written = write(value)
  // Complete pairs are written unchanged, so most texts are only searched.
  return written?.includes('\\ud') ? written.replace(ESCAPES, wellFormed) : written
}

// Each with its backslash, since `\\ud83d` is a backslash and five characters.
const ESCAPES = /\\(?:u[0-9a-f]{4}|[^u])/g

function wellFormed(escape) {
  return escape.startsWith('\\ud') ? '\ufffd' : escape
}
