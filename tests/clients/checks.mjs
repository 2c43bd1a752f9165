// What every session in JavaScript needs: checks, and a watch on the server's processes.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

// What `make-project.sh` writes.
export const IDENTITY = {
  name: "client-sessions",
  title: "Client sessions",
  version: "4.5.6",
  description: "What the official clients are tried on.",
  websiteUrl: "https://example.com/client-sessions",
};
export const INSTRUCTIONS = "Greet people with `greet`.";
export const TOOLS = [
  "add", "chatty", "fail", "folders", "greet", "introduce", "large", "route", "slow", "steps", "summarise", "weather",
  "wipe",
];
export const GREET_SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

export const scratch = mkdtempSync(join(tmpdir(), "client-session-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const pids = join(scratch, "server-pids");

// How long, in milliseconds, what must come is waited for. It only keeps a session from waiting for ever.
const PATIENCE = 60_000;

/**
 * The command line that was given, in a shell that writes its process id down before it becomes the server. The name of
 * the server's log has that number as well.
 */
export function serverCommand() {
  const server = process.argv.slice(2);
  if (server.length === 0) {
    console.error("usage: session SERVER [ARGUMENT...]");
    process.exit(2);
  }
  const shell = 'echo $$ >>"$0" && MCPBASH_LOG_LEVEL=debug MCPBASH_MAX_RESULT_TEXT_BYTES=0 exec "$@" --log-file "$0.$$.log"';
  return ["sh", "-c", shell, pids, ...server];
}

export function check(what, holds, seen) {
  if (holds) {
    console.log(`ok: ${what}`);
  } else {
    console.log(`WRONG: ${what}; saw ${seen instanceof Error ? seen.stack : JSON.stringify(seen)}`);
    process.exit(1);
  }
}

export function checkEqual(what, seen, wanted) {
  check(what, isDeepStrictEqual(seen, wanted), seen);
}

/** Whether something comes true. */
export async function until(holds) {
  for (const deadline = Date.now() + PATIENCE; !holds(); await sleep(20)) {
    if (Date.now() > deadline) return false;
  }
  return true;
}

export function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function serversStarted() {
  return readFileSync(pids, "utf8").trim().split("\n").map(Number);
}

/** The libraries send a signal to a server that is still there some time after its input was closed. */
export async function checkServerLeftByItself() {
  const pid = serversStarted().at(-1);
  check("a server whose input was closed ends", await until(() => !alive(pid)), pid);
  const log = readFileSync(`${pids}.${pid}.log`, "utf8");
  check("the server left by itself when its input was closed", log.includes('"end of input"'), log.slice(-1000));
}

export async function checkNoServerIsLeft() {
  const started = serversStarted();
  const gone = await until(() => !started.some(alive));
  check("no server process is left", gone, started.filter(alive));
}
