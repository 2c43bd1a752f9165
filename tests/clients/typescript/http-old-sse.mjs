// A session with version 1 of the official TypeScript library over the deprecated transport of 2024-11-05.

import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { converseOverOldSse } from "./over-http.mjs";
import { connect } from "./sdk-1.mjs";

await converseOverOldSse((url, ...rest) => connect(new SSEClientTransport(url), ...rest), "2025-11-25");
