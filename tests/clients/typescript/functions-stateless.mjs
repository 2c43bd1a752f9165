// Functions as version 2 of the official TypeScript client sees them when it finds out what the server speaks.

import { converse } from "./about-functions.mjs";

await converse("auto", "2026-07-28");
