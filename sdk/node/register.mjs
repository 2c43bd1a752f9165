// For programs that import function files without a server, for example tests:
//
//     node --import "$(mcp-bash sdk-path)/node/register.mjs" --test

import { registerSdk } from './lib/worker/imports.mjs'

registerSdk()
