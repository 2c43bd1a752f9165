// Everything a function file or a plain script imports from 'mcp-bash'.

export { tool, resource, prompt, worker, instructions } from './lib/definitions.mjs'
export { keep } from './lib/keep.mjs'
export { askInsideRoots, askRoots, insideRoots, roots } from './lib/roots.mjs'
export { progress, log, meta, signal, folder, caller, callerGroups, callerClaims, state, trace } from './lib/context.mjs'
export { ask, askAll, askUrl, confirm, choose, sample } from './lib/questions.mjs'
export { text, image, audio, embedded, link, result, user, assistant } from './lib/content.mjs'
export { ToolError, ProtocolError, NotFound, Declined, Cancelled, CannotAsk } from './lib/errors.mjs'
export { args, answer, main } from './lib/script.mjs'
