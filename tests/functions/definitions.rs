//! The definitions in function files: read once, read again when the files or their imports change, and
//! reported with a fix if a file cannot be loaded.

use crate::functions::{SUMS, call, names, quiet, text, told_of, tools};
use crate::harness::{Project, Server, code, wait_until, wait_until_asleep};
use serde_json::{Value, json};

/// A file that records in `loaded` that it was loaded, and has one function, which returns a number.
fn counted(name: &str, number: u32) -> String {
    format!(
        "open('loaded', 'a').write('x')\nfrom mcp_bash import tool\n@tool\ndef {name}() -> int: return {number}\n"
    )
}

fn announcement() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {} })
}

#[test]
fn a_cached_file_is_not_loaded_at_the_next_start() {
    let in_node = "import { appendFileSync } from 'node:fs'\nimport { tool } from 'mcp-bash'\nappendFileSync('loaded', 'y')\nexport const other = tool('x', {}, () => 1)\n";
    let project = Project::new().file("tools/one.py", &counted("one", 1)).file("tools/other.mjs", in_node);
    let mut server = quiet(&project);
    let listed = tools(&mut server);
    project.wait_for_file(".registry/functions.json");
    server.finish();
    let loaded = |project: &Project| {
        let text = project.read("loaded");
        (text.matches('x').count(), text.matches('y').count())
    };
    assert_eq!(loaded(&project), (1, 1));

    let mut server = quiet(&project);
    assert_eq!(tools(&mut server), listed);
    assert_eq!(loaded(&project), (1, 1));
    // Only the called file is loaded.
    assert_eq!(text(&call(&mut server, "one", &json!({}))), "1");
    assert_eq!(loaded(&project), (2, 1));
    server.finish();

    // Changed while no server runs.
    project.write("tools/one.py", &counted("renamed", 2));
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["other", "renamed"]);
    assert_eq!(loaded(&project), (3, 1));
}

/// An optional argument accepts null, so that agents which make every argument required keep it optional.
#[test]
fn an_argument_that_may_be_none_is_listed_with_null() {
    let file = "from typing import Literal, Optional, Union
from mcp_bash import tool

@tool
def look(depth: Optional[int] = None, key: Optional[Union[int, str]] = None,
         order: Optional[Literal['up', 'down']] = None, times: int = 2) -> str:
    \"\"\"Looks.

    Args:
        depth: How deep
    \"\"\"
    return repr((depth, key, order, times))
";
    let project = Project::new().file("tools/look.py", file);
    let mut server = quiet(&project);
    let schema = tools(&mut server)[0]["inputSchema"].clone();
    let none = json!({ "type": "null" });
    let expected = json!({
        "depth": {
            "anyOf": [{ "type": "integer", "description": "How deep" }, none],
            "description": "How deep",
        },
        "key": { "anyOf": [{ "type": "integer" }, { "type": "string" }, none] },
        "order": { "anyOf": [{ "type": "string", "enum": ["up", "down"] }, none] },
        "times": { "type": "integer", "default": 2 },
    });
    assert_eq!((&schema["properties"], &schema["required"]), (&expected, &Value::Null));
    for (arguments, got) in [
        (json!({}), "(None, None, None, 2)"),
        (json!({ "depth": null, "key": null, "order": null }), "(None, None, None, 2)"),
        (json!({ "depth": "3", "key": "a", "order": "up" }), "(3, 'a', 'up', 2)"),
        // As for any argument with a default, null counts as left out.
        (json!({ "times": null }), "(None, None, None, 2)"),
    ] {
        assert_eq!(text(&call(&mut server, "look", &arguments)), got, "{arguments}");
    }
    for (arguments, problem) in [
        (json!({ "depth": "deep" }), "`/depth` must be an integer or null"),
        (json!({ "order": "sideways" }), "`/order`"),
    ] {
        let refused = call(&mut server, "look", &arguments);
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(text(&refused).contains(problem), "{refused}");
    }
}

#[test]
fn a_damaged_cache_is_rebuilt() {
    let project = Project::new().file("tools/one.py", &counted("one", 1));
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["one"]);
    project.wait_for_file(".registry/functions.json");
    server.finish();
    let whole = project.read(".registry/functions.json");
    for damage in [&whole[..whole.len() / 2], "", "[]", "{\"items\": 7}", "\u{0}"] {
        std::fs::write(project.path(".registry/functions.json"), damage).unwrap();
        let mut server = quiet(&project);
        assert_eq!(names(&mut server), ["one"], "{damage:?}");
        assert_eq!(text(&call(&mut server, "one", &json!({}))), "1");
        server.finish();
    }
}

#[test]
fn a_file_that_changes_is_announced_and_its_next_call_is_the_new_one() {
    let project = Project::new().file("tools/one.py", &counted("one", 1)).file("tools/sums.py", SUMS);
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["add", "one", "repeat"]);
    assert_eq!(text(&call(&mut server, "one", &json!({}))), "1");

    let project = project.file("tools/one.py", &counted("another", 2));
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["add", "another", "repeat"]);
    assert_eq!(text(&call(&mut server, "another", &json!({}))), "2");
    assert_eq!(code(&call(&mut server, "one", &json!({}))), -32602);

    // Clients are not notified of new code with the same definition.
    let project = project.file("tools/one.py", &counted("another", 3));
    wait_until("the new code to run", || {
        (text(&call(&mut server, "another", &json!({}))) == "3").then_some(())
    });
    project.remove("tools/sums.py");
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["another"]);
    let _project = project.file(
        "tools/two.mjs",
        "import { tool } from 'mcp-bash'\nexport const two = tool('x', {}, () => 2)\n",
    );
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["another", "two"]);
}

#[test]
fn a_changed_module_reloads_the_files_that_import_it() {
    let uses = "from mcp_bash import tool\nfrom lib.words import WORD\nimport _numbers\n@tool(description=WORD)\ndef uses() -> int: return _numbers.NUMBER\n";
    let in_node = "import { tool } from 'mcp-bash'\nimport { word, number } from '../lib/words.mjs'\nexport const loads = tool(word, {}, () => number)\n";
    let project = Project::new()
        .file("tools/uses.py", uses)
        .file("tools/_numbers.py", "NUMBER = 1\n")
        .file("lib/words.py", "WORD = 'first'\n")
        .file("tools/loads.mjs", in_node)
        .file("lib/words.mjs", "export const word = 'first', number = 1\n");
    let mut server = quiet(&project);
    let descriptions = |server: &mut Server| {
        tools(server).iter().map(|tool| tool["description"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(descriptions(&mut server), ["first", "first"]);
    assert_eq!(text(&call(&mut server, "uses", &json!({}))), "1");
    assert_eq!(text(&call(&mut server, "loads", &json!({}))), "1");

    // From now on, unchanged files are not read again.
    project.wait_for_file(".registry/functions.json");
    // A file beside it.
    let project = project.file("tools/_numbers.py", "NUMBER = 22\n");
    wait_until("the new number", || (text(&call(&mut server, "uses", &json!({}))) == "22").then_some(()));
    wait_until_asleep(server.child.id());

    // A file elsewhere in the project.
    let project = project.file("lib/words.py", "WORD = 'second'\n");
    wait_until("the new description of Python", || {
        (descriptions(&mut server) == ["first", "second"]).then_some(())
    });
    let project = project.file("lib/words.mjs", "export const word = 'second', number = 22\n");
    wait_until("the new description of Node.js", || {
        (descriptions(&mut server) == ["second", "second"]).then_some(())
    });
    assert_eq!(text(&call(&mut server, "loads", &json!({}))), "22");
    server.finish();

    // The next start detects later changes.
    let project = project.file("lib/words.py", "WORD = 'third one'\n");
    let mut server = quiet(&project);
    assert_eq!(descriptions(&mut server), ["second", "third one"]);
}

/// Files that cannot be loaded, each with the expected report.
const BROKEN: [(&str, &str, &str); 8] = [
    ("tools/syntax.py", "from mcp_bash import tool\n@tool\ndef f(:\n    pass\n", "is skipped: SyntaxError"),
    (
        "tools/absent.py",
        "from mcp_bash import tool\nimport no_such_module\n@tool\ndef f() -> int: return 1\n",
        ".venv/bin/pip install no_such_module",
    ),
    (
        "tools/raises.py",
        "from mcp_bash import tool\n@tool\ndef f() -> int: return 1\n{}['key']\n",
        "is skipped: KeyError: 'key'",
    ),
    (
        "tools/hint.py",
        "from mcp_bash import tool\n@tool\ndef f(a: 'Nothing') -> int: return 1\n",
        "parameter `a`: its type Nothing cannot be read",
    ),
    (
        "tools/dies.py",
        "import os\nfrom mcp_bash import tool\nos.write(2, b'last words')\nos._exit(4)\n@tool\ndef f() -> int: return 1\n",
        "It wrote: last words",
    ),
    (
        "tools/syntax.mjs",
        "import { tool } from 'mcp-bash'\nexport const f = tool('x', {}, () => {\n",
        "is skipped: SyntaxError",
    ),
    (
        "tools/absent.mjs",
        "import { tool } from 'mcp-bash'\nimport x from 'no-such-package'\nexport const f = tool('x', {}, () => 1)\n",
        "npm install no-such-package",
    ),
    (
        "tools/throws.mjs",
        "import { tool } from 'mcp-bash'\nthrow new Error('not today')\nexport const f = tool('x', {}, () => 1)\n",
        "is skipped: Error: not today",
    ),
];

#[test]
fn a_file_that_cannot_be_loaded_is_reported_and_hides_no_other() {
    let project = Project::with_hi().file("tools/sums.py", SUMS);
    for (file, text, _) in BROKEN {
        project.write(file, text);
    }
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["add", "hi", "repeat"]);
    assert_eq!(text(&call(&mut server, "add", &json!({ "a": 1, "b": 2 }))), "3");
    let log = server.finish();
    let report =
        Server::command().arg("validate").arg("--project-root").arg(project.root()).output().unwrap();
    assert_eq!(report.status.code(), Some(1));
    let report = String::from_utf8(report.stdout).unwrap();
    for (file, _, said) in BROKEN {
        let is_told =
            |text: &str, line: &str| text.lines().any(|one| one.contains(file) && one.contains(line));
        assert!(log.contains(said), "{file}: {said} in {log}");
        assert!(is_told(&log, "is skipped"), "{file} in {log}");
        assert!(report.contains(said), "{file}: {said} in {report}");
        assert!(is_told(&report, "is skipped"), "{file} in {report}");
    }
}

#[test]
fn a_file_that_hangs_while_loading_delays_no_request_past_its_timeout() {
    let hangs = "import time\nfrom mcp_bash import tool\ntime.sleep(1000)\n@tool\ndef f() -> int: return 1\n";
    let project = Project::with_hi().file("tools/hangs.py", hangs);
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_WORKER_START_SECS", "1")], "2025-11-25");
    assert_eq!(names(&mut server), ["hi"]);
    let told = told_of(server, "hangs.py");
    assert!(told.contains("not ready within 1 s") && told.contains("MCPBASH_WORKER_START_SECS"), "{told}");
}

#[test]
fn a_file_that_is_fixed_is_served() {
    let project = Project::with_hi();
    for (file, text, _) in BROKEN {
        project.write(file, text);
    }
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["hi"]);
    let project = project.file(
        "tools/syntax.py",
        "from mcp_bash import tool\n@tool\ndef repaired() -> int: return 1 # repaired\n",
    );
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["hi", "repaired"]);
    let _project =
        project.file("tools/throws.mjs", "import { tool } from 'mcp-bash'\nexport const healed = tool('x', {}, () => 'healed by hand, and longer')\n");
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["healed", "hi", "repaired"]);
    assert_eq!(text(&call(&mut server, "repaired", &json!({}))), "1");
}

/// The code and the message of an error.
fn refusal(answer: &Value) -> (i64, String) {
    (code(answer), answer["error"]["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_tool_whose_file_is_broken_is_refused_with_the_reason() {
    let project = Project::with_hi().file("tools/sums.py", SUMS);
    let mut server = quiet(&project);
    assert_eq!(text(&call(&mut server, "add", &json!({ "a": 1, "b": 2 }))), "3");
    let project = project.file("tools/sums.py", "from mcp_bash import tool\n@tool\ndef add(:\n    pass\n");
    assert_eq!(server.receive(), announcement());
    let reason = "tools/sums.py:3 is skipped: SyntaxError: invalid syntax";
    for name in ["add", "repeat", "sums"] {
        let refused = refusal(&call(&mut server, name, &json!({})));
        assert_eq!(refused, (-32602, format!("Unknown tool: {name} ({reason})")));
    }
    // A file with the tool's name is the more likely cause.
    let project =
        project.file("tools/zoo.py", "from mcp_bash import tool\n{}[1]\n@tool\ndef f() -> int: return 1\n");
    let told = |server: &mut Server, name: &str| refusal(&call(server, name, &json!({}))).1;
    wait_until("zoo.py", || {
        told(&mut server, "zoo").contains("tools/zoo.py:2 is skipped: KeyError").then_some(())
    });
    assert!(told(&mut server, "add").contains("tools/sums.py:3"));
    // Another broken file is not the reason that a tool is missing.
    for name in ["subtract", "pass", "tool", ""] {
        assert_eq!(told(&mut server, name), format!("Unknown tool: {name}"));
    }
    // Neither a long name nor a long reason makes a long refusal.
    let long = "x".repeat(10_000);
    assert_eq!(told(&mut server, &long), format!("Unknown tool: {long}"));
    let raises =
        format!("from mcp_bash import tool\nraise ValueError('{long}')\n@tool\ndef f() -> int: return 1\n");
    let _project = project.file("tools/zoo.py", &raises);
    let refusal = wait_until("a long reason", || {
        let told = told(&mut server, "zoo");
        told.contains("ValueError").then_some(told)
    });
    assert!(refusal.chars().count() < 300, "{refusal}");
}

#[test]
fn a_tool_that_does_not_exist_is_unknown() {
    let project = Project::with_hi().file("tools/broken/tool.meta.json", "{ nonsense");
    let mut server = quiet(&project);
    assert_eq!(refusal(&call(&mut server, "none", &json!({}))), (-32602, "Unknown tool: none".to_owned()));
    let (_, message) = refusal(&call(&mut server, "broken", &json!({})));
    assert!(
        message.starts_with("Unknown tool: broken (tools/broken/tool.meta.json:1 is skipped: "),
        "{message}"
    );
}

#[test]
fn a_skipped_file_is_named_for_the_tools_that_it_names_and_for_no_others() {
    let project =
        Project::with_hi().file("tools/shelf/tool.meta.json", "{ \"name\": \"fetch_book\", nonsense").file(
            "tools/node.mjs",
            "import { tool } from 'mcp-bash'\nexport const twice = tool('x', {}, () => 1\n",
        );
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["hi"]);
    let mut told = |name: &str| refusal(&call(&mut server, name, &json!({}))).1;
    assert!(
        told("fetch_book").starts_with("Unknown tool: fetch_book (tools/shelf/tool.meta.json:1 is skipped: ")
    );
    assert!(told("twice").starts_with("Unknown tool: twice (tools/node.mjs"), "{}", told("twice"));
    for name in ["thrice", "nonsense", "export", "his", "\u{0}"] {
        assert_eq!(told(name), format!("Unknown tool: {name}"));
    }
}

#[test]
fn a_file_is_served_once_its_imports_are_fixed() {
    let uses =
        "from mcp_bash import tool\nfrom lib import words\n@tool\ndef uses() -> str: return words.WORD\n";
    let project = Project::with_hi().file("tools/uses.py", uses).file("lib/words.py", "WORD = \n");
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["hi"]);
    project.wait_for_file(".registry/tools.json");
    let project = project.file("lib/words.py", "WORD = 'repaired'\n");
    wait_until("the repaired module", || (names(&mut server) == ["hi", "uses"]).then_some(()));
    assert_eq!(text(&call(&mut server, "uses", &json!({}))), "repaired");

    // If it breaks again, the last good definitions stay or the tool disappears: a call never runs old code.
    let project = project.file("lib/words.py", "WORD = 'broken\n# and longer than before');\n");
    wait_until("the broken module to be noticed", || {
        let answer = call(&mut server, "uses", &json!({}));
        (answer["result"]["content"][0]["text"] != "repaired").then_some(())
    });
    let _project = project.file("lib/words.py", "WORD = 'repaired once more, and for good'\n#\n#\n");
    wait_until("the module that is repaired again", || {
        let answer = call(&mut server, "uses", &json!({}));
        (answer["result"]["content"][0]["text"] == "repaired once more, and for good").then_some(())
    });
}

#[test]
fn a_file_that_writes_when_it_is_loaded_is_not_loaded_for_ever() {
    let writes = "from mcp_bash import tool\nopen('tools/noise', 'a').write('x')\nopen('noise', 'a').write('x')\n@tool\ndef f() -> int: return 1\n";
    let project = Project::new().file("tools/writes.py", writes);
    let mut server = quiet(&project);
    project.wait_for_file(".registry/functions.json");
    wait_until_asleep(server.child.id());
    assert_eq!(names(&mut server), ["f"]);
    let loaded = project.read("noise").len();
    assert!(loaded <= 2, "loaded {loaded} times");
}
