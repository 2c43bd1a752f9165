// Runs in the thread in which older versions of node resolve modules.

import { refuseForeign } from './trusted.mjs'

let sdk

export function initialize(data) {
  sdk = data
}

export async function resolve(specifier, context, next) {
  if (specifier === sdk.name) return { url: sdk.url, format: 'module', shortCircuit: true }
  const found = await next(specifier, context)
  if (found.url === sdk.path) return { ...found, url: sdk.url }
  refuseForeign(found.url, sdk.root)
  sdk.port.postMessage(found.url)
  return found
}
