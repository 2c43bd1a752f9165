// A session with the command line of the official inspector over stdio, in each era that it can be told to use. It starts the
// server anew for every method.

import { checkNoServerIsLeft, serverCommand } from "../checks.mjs";
import { checkEra, inspector } from "./inspector.mjs";

const inspect = inspector(["--", ...serverCommand()]);
checkEra(inspect, "auto", "2026-07-28");
checkEra(inspect, "modern", "2026-07-28");
checkEra(inspect, "legacy", "2025-11-25");
await checkNoServerIsLeft();
