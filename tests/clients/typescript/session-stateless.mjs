// A session with version 2 of the official TypeScript client, when it is told to find out what the server speaks. It
// asks one server process that question, ends it, and starts another one for the session.

import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connect } from "./client-2.mjs";
import { converse } from "./conversation.mjs";

await converse((server, ...rest) => connect(new StdioClientTransport(server), ...rest, "auto"), "2026-07-28");
