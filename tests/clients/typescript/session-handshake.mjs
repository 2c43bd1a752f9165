// A session with version 1 of the official TypeScript library.

import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { converse } from "./conversation.mjs";
import { connect } from "./sdk-1.mjs";

await converse((server, ...rest) => connect(new StdioClientTransport(server), ...rest), "2025-11-25");
