// Sessions over HTTP with version 2 of the official TypeScript client, in the mode that it has by default, which is the handshake.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { connect } from "./client-2.mjs";
import { converseOverHttp } from "./over-http.mjs";

await converseOverHttp(
  (url, headers, ...rest) => connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), ...rest, "legacy"),
  "2025-11-25",
);
