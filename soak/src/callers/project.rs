//! Callers' project: scripts with background jobs, and functions that hand their work to pools. Every message carries
//! two marks: the one from the arguments, and the one of the call that the code thinks it works for.

use crate::planted;
use serde_json::json;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The tools and functions, and whether each asks.
pub(super) const TOOLS: [(u64, (&str, bool)); 12] = [
    (2, ("jobs", false)),
    (1, ("asks_in_script", true)),
    (3, ("in_pool", false)),
    (3, ("in_executor", false)),
    (3, ("in_default_executor", false)),
    (2, ("in_tasks", false)),
    (2, ("in_thread", false)),
    (3, ("asks_in_pool", true)),
    (2, ("after_timers", false)),
    (2, ("in_queue", false)),
    (2, ("through_events", false)),
    (2, ("asks_after_timers", true)),
];

const JOBS: &str = r#"#!/usr/bin/env bash
. "$MCP_SDK/tool-sdk.sh"
word=$(mcp_args_get '.word')
for n in 1 2 3; do
	{ mcp_progress "$n" "$word $PLANTED" 3; mcp_log_info jobs "$word $PLANTED"; echo "$word $PLANTED" >&2; } &
done
wait
printf %s "$PLANTED" | base64
echo "$word $PLANTED"
"#;

const ASKS: &str = r#"#!/usr/bin/env bash
. "$MCP_SDK/tool-sdk.sh"
word=$(mcp_args_get '.word')
answer=$(mcp_elicit "Who is it? $word" '{"type":"object","properties":{"who":{"type":"string"}}}' 30)
echo "$word was told $answer"
"#;

const PYTHON: &str = r#"
import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mcp_bash import ask, context, log, meta, progress, tool, worker

worker(processes=2, at_once=4)

POOL = ThreadPoolExecutor(3)


@dataclass
class Answer:
    who: str


def mine(word):
    return f"{word} caller:{context().caller}:{meta().get('call')}z"


def speak(word):
    print("prints", mine(word))
    log.info(f"logs {mine(word)}")
    progress(1, 2, mine(word))
    return mine(word)


def question(word):
    return f"{mine(word)} was told {ask(f'Who is it? {mine(word)}', Answer).who}"


@tool
def in_pool(word: str) -> str:
    """Works in the threads of a pool."""
    return " ".join(POOL.map(speak, [word] * 3))


@tool
async def in_executor(word: str) -> str:
    """Works in the threads of a pool, from an event loop."""
    loop = asyncio.get_running_loop()
    parts = await asyncio.gather(*(loop.run_in_executor(POOL, speak, word) for _ in range(3)))
    return " ".join([*parts, mine(word)])


@tool
async def in_default_executor(word: str) -> str:
    """Works in the threads that the event loop has."""
    loop = asyncio.get_running_loop()
    parts = await asyncio.gather(loop.run_in_executor(None, speak, word), asyncio.to_thread(speak, word))
    return " ".join([*parts, mine(word)])


@tool
async def in_tasks(word: str) -> str:
    """Works in tasks that wait."""
    async def part(wait):
        await asyncio.sleep(wait)
        return speak(word)
    return " ".join(await asyncio.gather(*(part(n / 100) for n in range(3))))


@tool
def in_thread(word: str) -> str:
    """Works in a thread of its own."""
    parts = []
    thread = threading.Thread(target=lambda: parts.append(speak(word)))
    thread.start()
    thread.join()
    return " ".join(parts)


@tool
async def asks_in_pool(word: str) -> str:
    """Asks from a thread of a pool."""
    return await asyncio.get_running_loop().run_in_executor(POOL, question, word)
"#;

const NODE: &str = r"
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { ask, caller, log, meta, progress, tool, worker } from 'mcp-bash'

worker({ processes: 2, atOnce: 4 })

const mine = (word) => `${word} caller:${caller()}:${meta().call}z`

const speak = (word) => {
  console.log('prints', mine(word))
  log.info(`logs ${mine(word)}`)
  progress(1, 2, mine(word))
  return mine(word)
}

const words = { word: 'string' }

export const after_timers = tool('Works after timers.', words, async ({ word }) => {
  const own = new AsyncLocalStorage()
  const parts = await Promise.all([1, 2, 3].map((n) => own.run(n, async () => { await wait(n * 5); return speak(word) })))
  const late = await new Promise((resolve) => setTimeout(() => setImmediate(() => resolve(speak(word))), 5))
  return [...parts, late].join(' ')
})

// Two jobs run at once; the others wait until one of them is done, in whichever call.
let free = 2
const waiting = []
const limited = async (work) => {
  if (free > 0) free -= 1
  else await new Promise((resolve) => waiting.push(AsyncResource.bind(resolve)))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
}

export const in_queue = tool('Works when it is its turn in a queue of all calls.', words, async ({ word }) =>
  (await Promise.all([1, 2, 3].map(() => limited(async () => { await wait(2); return speak(word) })))).join(' '))

const bus = new EventEmitter()
bus.setMaxListeners(0)
bus.on('work', (word, done) => done(speak(word)))

export const through_events = tool('Works in the listener of an emitter that all calls share.', words, async ({ word }) => {
  const answered = once(bus, word)
  bus.emit('work', word, (said) => setImmediate(() => bus.emit(word, said)))
  const [said] = await answered
  return `${said} ${mine(word)}`
})

export const asks_after_timers = tool('Asks after a timer.', words, async ({ word }) => {
  await wait(5)
  const { who } = await limited(() => ask(`Who is it? ${mine(word)}`, { who: 'string' }))
  return `${mine(word)} was told ${who}`
})
";

/// The rule of the policy, which decides about no call.
pub(crate) const RULE: &str = "for-nobody";

pub(super) fn write(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join("server.d"))?;
    let policy = format!(
        "version: 1\ndefault: allow\nrules:\n  - name: {RULE}\n    when: caller.name == 'nobody'\n    deny: No.\n"
    );
    fs::write(root.join("server.d/policy.yaml"), policy)?;
    for (name, text) in [("jobs", JOBS), ("asks_in_script", ASKS)] {
        let tool = root.join("tools").join(name);
        fs::create_dir_all(&tool)?;
        fs::write(tool.join("tool.sh"), text)?;
        fs::set_permissions(tool.join("tool.sh"), Permissions::from_mode(0o755))?;
        let input = json!({ "type": "object", "properties": { "word": { "type": "string" } } });
        let secrets = json!({ planted::VARIABLE: planted::NAME });
        let metadata = json!({
            "name": name, "description": "A tool of the soak", "inputSchema": input, "secrets": secrets,
        });
        fs::write(tool.join("tool.meta.json"), metadata.to_string())?;
    }
    fs::write(root.join("tools/pools.py"), PYTHON)?;
    fs::write(root.join("tools/queues.mjs"), NODE)
}
