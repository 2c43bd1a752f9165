// JSON as it was before any function of a worker could change it: a frame must be right whatever they do to globals.

const { stringify: write, parse } = JSON

export { parse }

/** A value as JSON that every reader takes: half a pair of surrogates, as a cut through an emoji leaves it, is U+FFFD. */
export function stringify(value) {
  const written = write(value)
  // Whole pairs are written as they are, so that most texts are only searched.
  return written?.includes('\\ud') ? written.replace(ESCAPES, wellFormed) : written
}

// Each with its backslash, since `\\ud83d` is a backslash and four letters.
const ESCAPES = /\\(?:u[0-9a-f]{4}|[^u])/g

function wellFormed(escape) {
  return escape.startsWith('\\ud') ? '\ufffd' : escape
}
