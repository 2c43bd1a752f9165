//! Calls of functions: progress, questions, cancellation, timeouts, concurrency, and state that outlives a
//! call.

use crate::functions::{call, call_and_news, names, quiet, quiet_with, text};
use crate::harness::{Project, Server, exists, stateless_meta, wait_until, wait_until_gone};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A function in each language that takes three steps.
fn walking() -> Project {
    Project::new()
        .file(
            "tools/walk.py",
            "from mcp_bash import progress, tool\n@tool\ndef walk() -> str:\n    for step in progress.each(['a', 'b', 'c'], message='step {}'):\n        pass\n    return 'there'\n",
        )
        .file(
            "tools/stroll.mjs",
            "import { tool } from 'mcp-bash'\nexport const stroll = tool('x', {}, (_, { progress }) => {\n  for (const [at, step] of ['a', 'b', 'c'].entries()) progress(at + 1, 3, `step ${step}`)\n  return 'there'\n})\n",
        )
}

fn steps(news: &[Value]) -> Vec<(Value, Value, Value)> {
    let of = |message: &Value| {
        let params = &message["params"];
        (params["progress"].clone(), params["total"].clone(), params["message"].clone())
    };
    news.iter().filter(|message| message["method"] == "notifications/progress").map(of).collect()
}

#[test]
fn progress_is_sent_in_both_eras() {
    let project = walking();
    let wanted: Vec<_> = [(1, "a"), (2, "b"), (3, "c")]
        .map(|(at, step)| (json!(at), json!(3), json!(format!("step {step}"))))
        .into();
    for tool in ["walk", "stroll"] {
        let mut server = quiet(&project);
        let (answer, news) = call_and_news(&mut server, tool, &json!({}));
        assert_eq!(text(&answer), "there");
        assert_eq!(steps(&news), wanted, "{tool}");
        assert!(news.iter().all(|message| message["params"]["progressToken"] == format!("of {tool}")));

        let mut server = Server::start(project.root());
        let mut meta = stateless_meta();
        meta["progressToken"] = json!("token");
        server.request(1, "tools/call", &json!({ "name": tool, "arguments": {}, "_meta": meta }));
        let mut news = Vec::new();
        let answer = loop {
            let message = server.receive();
            if message.get("id").is_some() {
                break message;
            }
            news.push(message);
        };
        assert_eq!(text(&answer), "there");
        assert_eq!(steps(&news), wanted, "{tool}");
    }
}

/// A function in each language that asks for a name and then for a confirmation.
fn asking() -> Project {
    Project::new()
        .file(
            "tools/introduce.py",
            r"from mcp_bash import Declined, ask, confirm, tool
@tool
def introduce() -> str:
    open('asked', 'a').write('x')
    try:
        name = ask('What is your name?')
    except Declined:
        return 'nobody'
    return f'{name}, well: {confirm(f_(name))}'

def f_(name): return f'Are you well, {name}?'
",
        )
        .file(
            "tools/present.mjs",
            r"import { appendFileSync } from 'node:fs'
import { Declined, ask, confirm, tool } from 'mcp-bash'
export const present = tool('x', {}, async () => {
  appendFileSync('asked', 'x')
  try {
    const { value } = await ask('What is your name?', { value: 'string' })
    return `${value}, well: ${await confirm(`Are you well, ${value}?`)}`
  } catch (error) {
    if (error instanceof Declined) return 'nobody'
    throw error
  }
})
",
        )
}

/// The user's input for the only field of a form.
fn filled(question: &Value, value: &Value) -> Value {
    let properties = question["params"]["requestedSchema"]["properties"].as_object().unwrap();
    let name = properties.keys().next().unwrap().clone();
    json!({ "action": "accept", "content": { name: value } })
}

#[test]
fn questions_are_asked_and_answered_in_a_session() {
    let project = asking();
    for (tool, yes) in [("introduce", "True"), ("present", "true")] {
        let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
        server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
        server.call(1, tool);
        let question = server.receive();
        assert_eq!(question["params"]["message"], "What is your name?", "{question}");
        server.reply(&question, &filled(&question, &json!("Zoë")));
        let question = server.receive();
        assert_eq!(question["params"]["message"], "Are you well, Zoë?", "{question}");
        server.reply(&question, &filled(&question, &json!(true)));
        assert_eq!(text(&server.receive()), format!("Zoë, well: {yes}"));

        server.call(2, tool);
        let question = server.receive();
        server.reply(&question, &json!({ "action": "decline" }));
        assert_eq!(text(&server.receive()), "nobody");
    }
}

fn stateless_call(server: &mut Server, id: u32, tool: &str, more: &Value) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let mut params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    server.ask(id, "tools/call", &params)
}

#[test]
fn questions_are_asked_and_answered_without_a_session() {
    for (tool, yes) in [("introduce", "True"), ("present", "true")] {
        let project = asking();
        let mut server = Server::start(project.root());
        let retry = |asked: &Value, message: &str, value: &Value| {
            assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
            let (name, question) =
                asked["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
            assert_eq!(question["params"]["message"], message);
            json!({ "requestState": asked["result"]["requestState"], "inputResponses": { name: filled(question, value) } })
        };
        let asked = stateless_call(&mut server, 1, tool, &json!({}));
        let answered = retry(&asked, "What is your name?", &json!("Zoë"));
        let asked = stateless_call(&mut server, 2, tool, &answered);
        let answered = retry(&asked, "Are you well, Zoë?", &json!(true));
        assert_eq!(text(&stateless_call(&mut server, 3, tool, &answered)), format!("Zoë, well: {yes}"));
        // The function waited where it asked, and did not run again for each answer.
        assert_eq!(project.read("asked"), "x");
    }
}

#[test]
fn a_client_without_elicitation_is_not_asked() {
    let project = asking();
    let mut server = quiet(&project);
    for tool in ["introduce", "present"] {
        let (answer, news) = call_and_news(&mut server, tool, &json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).to_lowercase().contains("this client cannot"), "{answer}");
        assert!(news.is_empty(), "{news:?}");
    }
}

#[test]
fn a_function_that_times_out_is_notified_and_the_next_call_is_served() {
    let slow = r"import os, time
from mcp_bash import tool

@tool(timeout=1)
def slow() -> str:
    open('started', 'a').write(f'{os.getpid()}\n')
    time.sleep(1000)

@tool(timeout=1)
def stubborn() -> str:
    open('started', 'a').write(f'{os.getpid()}\n')
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass

@tool
def quick() -> str:
    return 'quick'
";
    let in_node = r"import { tool } from 'mcp-bash'
import { appendFileSync } from 'node:fs'
export const endless = tool({ input: {}, timeoutSecs: 1 }, () => {
  appendFileSync('started', `${process.pid}\n`)
  for (;;);
})
export const waits = tool({ input: {}, timeoutSecs: 1 }, () => new Promise(() => {}))
export const prompt_one = tool('x', {}, () => 'quick')
";
    let project = Project::new().file("tools/slow.py", slow).file("tools/endless.mjs", in_node);
    let mut server = quiet(&project);
    for tool in ["slow", "stubborn", "endless", "waits"] {
        let answer = call(&mut server, tool, &json!({}));
        assert_eq!(answer["result"]["structuredContent"]["error"]["type"], "timeout", "{tool}: {answer}");
        let is_python = ["slow", "stubborn"].contains(&tool);
        let longer =
            if is_python { "`@tool(timeout=…)`" } else { "`timeoutSecs` in the options of `tool`" };
        assert!(text(&answer).contains(longer) && !text(&answer).contains("metadata"), "{answer}");
        let next = if is_python { "quick" } else { "prompt_one" };
        assert_eq!(text(&call(&mut server, next, &json!({}))), "quick", "after {tool}");
    }
    // A call without a waiting client does not continue.
    let started = project.wait_for_started(3);
    wait_until_gone(started[1]);
    wait_until_gone(started[2]);
}

#[test]
fn a_cancelled_call_stops_the_function() {
    let waits = r"import os, time
from mcp_bash import Cancelled, tool

@tool
def waits() -> str:
    open('started', 'a').write(f'{os.getpid()}\n')
    try:
        time.sleep(1000)
    except Cancelled:
        open('ended', 'a').write('python ')
        raise

@tool
def number() -> int:
    return os.getpid()
";
    let in_node = r"import { tool } from 'mcp-bash'
import { appendFileSync } from 'node:fs'
export const idles = tool('x', {}, (_, { signal }) => new Promise((_, reject) => {
  appendFileSync('started', `${process.pid}\n`)
  signal.addEventListener('abort', () => {
    appendFileSync('ended', 'node ')
    reject(signal.reason)
  })
}))
export const id = tool('x', {}, () => process.pid)
";
    let project = Project::new().file("tools/waits.py", waits).file("tools/idles.mjs", in_node);
    let mut server = quiet_with(&project, &[("MCPBASH_WORKER_PROCESSES", "1")]);
    for (at, (tool, next, said)) in
        [("waits", "number", "python "), ("idles", "id", "python node ")].into_iter().enumerate()
    {
        server.call(tool, tool);
        let pid = project.wait_for_started(at + 1)[at];
        server.notify("notifications/cancelled", &json!({ "requestId": tool }));
        wait_until(said, || (project.read("ended") == said).then_some(()));
        // A worker whose function handles cancellation continues; a cancelled call gets no answer.
        let answer = server.ask("next", "tools/call", &json!({ "name": next, "arguments": {} }));
        assert_eq!(text(&answer), pid.to_string());
    }
}

#[test]
fn a_function_that_ignores_cancellation_is_killed_with_its_processes() {
    let stubborn = r"import os, subprocess, time
from mcp_bash import tool

@tool
def stubborn() -> str:
    child = subprocess.Popen(['sleep', '1000'])
    open('started', 'a').write(f'{os.getpid()}\n{child.pid}\n')
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass

@tool
def number() -> int:
    return os.getpid()
";
    let project = Project::new().file("tools/stubborn.py", stubborn);
    let mut server = quiet_with(&project, &[("MCPBASH_WORKER_PROCESSES", "1")]);
    server.call(1, "stubborn");
    let pids = project.wait_for_started(2);
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    let answer = server.ask("next", "tools/call", &json!({ "name": "number", "arguments": {} }));
    assert_ne!(text(&answer), pids[0].to_string());
    pids.into_iter().for_each(wait_until_gone);
}

/// A function in each language that counts in kept state, and reports when that state is released.
fn keeping() -> Project {
    Project::new()
        .file(
            "tools/count.py",
            r"import os
from mcp_bash import keep, tool

@keep
def counter():
    open('opened', 'a').write('python ')
    yield [0]
    open('ended', 'a').write('python ')

@tool
def count() -> int:
    counter()[0] += 1
    return counter()[0]
",
        )
        .file(
            "tools/tally.mjs",
            r"import { appendFileSync } from 'node:fs'
import { keep, tool } from 'mcp-bash'
const counter = keep(
  () => (appendFileSync('opened', 'node '), { at: 0 }),
  () => appendFileSync('ended', 'node '),
)
export const tally = tool('x', {}, async () => (await counter()).at += 1)
",
        )
}

#[test]
fn kept_state_outlives_calls_and_is_released_at_shutdown() {
    let project = keeping();
    let mut server = quiet(&project);
    for tool in ["count", "tally"] {
        for wanted in ["1", "2", "3"] {
            assert_eq!(text(&call(&mut server, tool, &json!({}))), wanted);
        }
    }
    assert_eq!((&*project.read("opened"), &*project.read("ended")), ("python node ", ""));
    server.finish();
    let mut ended: Vec<String> = project.read("ended").split_whitespace().map(str::to_owned).collect();
    ended.sort();
    assert_eq!(ended, ["node", "python"]);
}

#[test]
fn process_state_changed_by_a_call_is_restored_for_the_next() {
    let changes = r"import os
from mcp_bash import tool

@tool
def change() -> str:
    os.environ['LEFT'] = 'secret'
    os.chdir('/')
    os.umask(0)
    return 'changed'

@tool
def look() -> list:
    mask = os.umask(0o77)
    return [os.environ.get('LEFT'), os.getcwd() == os.environ['MCPBASH_PROJECT_ROOT'], mask != 0]
";
    let in_node = r"import { tool } from 'mcp-bash'
export const alter = tool('x', {}, () => { process.env.LEFT = 'secret'; process.chdir('/'); process.umask(0); return 'changed' })
export const see = tool('x', {}, () => [process.env.LEFT ?? null, process.cwd() === process.env.MCPBASH_PROJECT_ROOT, process.umask() !== 0])
";
    let project = Project::new().file("tools/changes.py", changes).file("tools/alters.mjs", in_node);
    let mut server = quiet_with(&project, &[("MCPBASH_WORKER_PROCESSES", "1")]);
    for (change, look) in [("change", "look"), ("alter", "see")] {
        call(&mut server, change, &json!({}));
        let answer = call(&mut server, look, &json!({}));
        let seen: Value = serde_json::from_str(text(&answer)).unwrap();
        assert_eq!(seen, json!([null, true, true]), "{look}");
    }
}

#[test]
fn fifty_concurrent_calls_each_get_their_own_answer() {
    let echo = r"import time
from mcp_bash import progress, tool

@tool
def echo(word: str) -> str:
    progress(1, 1, word)
    time.sleep(0.001)
    return word
";
    let at_once = r"import asyncio
from mcp_bash import tool, worker

worker(processes=1, at_once=50)

@tool
async def echo_async(word: str) -> str:
    await asyncio.sleep(0.01)
    return word
";
    let in_node = r"import { tool, worker } from 'mcp-bash'
worker({ processes: 1, atOnce: 50 })
export const echo_node = tool('x', { word: 'string' }, async ({ word }) => {
  await new Promise((done) => setTimeout(done, Math.random() * 20))
  return word
})
";
    let project = Project::new()
        .file("tools/echo.py", echo)
        .file("tools/echo_async.py", at_once)
        .file("tools/echo_node.mjs", in_node);
    let settings = [("MCPBASH_MAX_CONCURRENT_REQUESTS", "64"), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &settings, "2025-11-25");
    for tool in ["echo", "echo_async", "echo_node"] {
        let word = |id: i64| format!("{tool} {id}");
        let requests: Vec<Value> = (0..50)
            .map(|id| {
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                    "name": tool, "arguments": { "word": word(id) }, "_meta": { "progressToken": id },
                } })
            })
            .collect();
        server.send_together(&requests);
        let mut answers = BTreeSet::new();
        while answers.len() < 50 {
            let message = server.receive();
            if message["method"] == "notifications/progress" {
                let token = message["params"]["progressToken"].as_i64().unwrap();
                assert_eq!(message["params"]["message"], word(token));
                continue;
            }
            // A list change may be announced meanwhile.
            let Some(id) = message["id"].as_i64() else { continue };
            assert_eq!(text(&message), word(id));
            assert!(answers.insert(id), "{id} is answered twice");
        }
        server.expect_silence();
    }
}

#[test]
fn a_worker_that_dies_in_a_call_is_replaced() {
    let dies = r"import os, signal
from mcp_bash import tool

@tool
def dies(how: str) -> str:
    open('started', 'a').write(f'{os.getpid()}\n')
    if how == 'exit': os._exit(7)
    os.kill(os.getpid(), signal.SIGKILL)

@tool
def lives() -> str:
    return 'lives'
";
    let project = Project::new().file("tools/dies.py", dies);
    let mut server = quiet(&project);
    for (at, (how, said)) in [("exit", "code 7"), ("signal", "SIGKILL (9)")].into_iter().enumerate() {
        let answer = call(&mut server, "dies", &json!({ "how": how }));
        assert!(answer.to_string().contains(said), "{said}: {answer}");
        assert!(!exists(project.wait_for_started(at + 1)[at]));
        assert_eq!(text(&call(&mut server, "lives", &json!({}))), "lives");
    }
    assert_eq!(names(&mut server), ["dies", "lives"]);
}
