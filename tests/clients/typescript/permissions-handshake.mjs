// Roles, policy, consent and audit over HTTP with version 1 of the official TypeScript library, which knows the handshake only.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { conversePermissions } from "./permissions.mjs";
import { connect } from "./sdk-1.mjs";

await conversePermissions(
  (url, headers, ...rest) => connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), ...rest),
  false,
);
