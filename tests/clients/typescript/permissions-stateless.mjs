// Roles, policy, consent and audit over HTTP with version 2 of the official TypeScript client, which finds out
// what the server speaks.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { connect } from "./client-2.mjs";
import { conversePermissions } from "./permissions.mjs";

await conversePermissions(
  (url, headers, ...rest) => connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), ...rest, "auto"),
  true,
);
