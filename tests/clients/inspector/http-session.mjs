// The command line of the official inspector over HTTP, in each era that it can be told to use.

import { checkEra, inspector } from "./inspector.mjs";
import { startServer } from "../http-server.mjs";

const server = await startServer();
const inspect = inspector(["--transport", "http", "--server-url", server.url.href]);
checkEra(inspect, "modern", "2026-07-28");
checkEra(inspect, "legacy", "2025-11-25");
await server.stop();
