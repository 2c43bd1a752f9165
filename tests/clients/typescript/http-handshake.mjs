// Sessions over HTTP with version 1 of the official TypeScript library, which knows the handshake only.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { converseOverHttp } from "./over-http.mjs";
import { connect } from "./sdk-1.mjs";

await converseOverHttp(
  (url, headers, ...rest) => connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), ...rest),
  "2025-11-25",
);
