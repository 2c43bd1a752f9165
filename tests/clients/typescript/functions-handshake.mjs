// Functions as version 2 of the official TypeScript client sees them when it uses the handshake.

import { converse } from "./about-functions.mjs";

await converse("legacy", "2025-11-25");
