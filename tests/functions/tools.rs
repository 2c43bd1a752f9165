//! Functions that are tools: found, listed, called, and refused where a script would be.

use super::{SUMS, call, call_and_news, names, quiet, quiet_with, text, told_of, tools};
use crate::harness::{Project, Server, code};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

const AREAS: &str = r"import { tool } from 'mcp-bash'

export const area = tool('Area of a rectangle.', { width: 'number', height: 'number' }, ({ width, height }) => width * height)
export const shout = tool('Says a word aloud.', { word: 'string' }, ({ word }) => word.toUpperCase())
";

#[test]
fn functions_of_both_languages_are_tools_without_metadata_mode_or_first_line() {
    let project = Project::new()
        .file("tools/sums.py", SUMS)
        .file("tools/drawing/areas.mjs", AREAS)
        .tool("hi", "#!/bin/sh\necho hi\n");
    let mut server = quiet(&project);
    let listed = tools(&mut server);
    assert_eq!(names(&mut server), ["add", "area", "hi", "repeat", "shout"]);
    assert_eq!(
        listed[0],
        json!({
            "name": "add",
            "description": "Adds two numbers.",
            "inputSchema": {
                "type": "object",
                "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
                "required": ["a", "b"],
                "additionalProperties": false,
            },
            "outputSchema": {
                "type": "object", "properties": { "result": { "type": "integer" } }, "required": ["result"],
            },
        })
    );
    let repeat = &listed[3]["inputSchema"];
    assert_eq!(
        (&repeat["properties"]["times"]["default"], &repeat["required"]),
        (&json!(2), &json!(["word"]))
    );

    let sum = call(&mut server, "add", &json!({ "a": 40, "b": 2 }));
    assert_eq!((text(&sum), &sum["result"]["structuredContent"]), ("42", &json!({ "result": 42 })));
    assert_eq!(text(&call(&mut server, "repeat", &json!({ "word": "Zoë" }))), "Zoë Zoë");
    assert_eq!(text(&call(&mut server, "area", &json!({ "width": 2.5, "height": 4 }))), "10");
    assert_eq!(text(&call(&mut server, "shout", &json!({ "word": "zoë" }))), "ZOË");
    assert_eq!(text(&call(&mut server, "hi", &json!({}))), "hi");
}

#[test]
fn files_without_functions_are_never_loaded() {
    let tool = |name: &str| {
        format!(
            "open('loaded', 'a').write('{name}')\nfrom mcp_bash import tool\n@tool\ndef {name}() -> int: return 1\n"
        )
    };
    let in_node = "import { writeFileSync } from 'node:fs'\nimport { tool } from 'mcp-bash'\nwriteFileSync('loaded', 'x')\ntool('x', {}, () => 1)\n";
    let project = Project::new()
        .file("tools/sums.py", SUMS)
        .file("tools/_helper.py", &tool("helper"))
        .file("tools/test_sums.py", &tool("tested"))
        .file("tools/.hidden.py", &tool("hidden"))
        .file("tools/sums/tests/a.py", &tool("in_tests"))
        .file("tools/__pycache__/a.py", &tool("cached"))
        .file("tools/.venv/lib/a.py", &tool("installed"))
        .file("tools/node_modules/package/index.mjs", in_node)
        .file("tools/types.d.ts", in_node)
        .file("tools/note.txt", &tool("note"))
        .file("tools/unmarked.py", "open('loaded', 'a').write('unmarked')\nimport mcp_bash\n")
        .file(
            "tools/other.py",
            "open('loaded', 'a').write('other')\nfrom fastmcp import tool\n@tool\ndef f(): ...\n",
        )
        .file("lib/elsewhere.py", &tool("elsewhere"));
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["add", "repeat"]);
    assert_eq!(project.read("loaded"), "");
}

#[test]
fn files_of_other_editors_and_encodings_are_served() {
    let project = Project::new()
        .file("tools/marked.py", "\u{feff}from mcp_bash import tool\r\n\r\n@tool\r\ndef marked() -> str:\r\n    return 'marked'\r\n")
        .file("tools/both.py", "import os, mcp_bash\n\n@mcp_bash.tool\ndef both() -> str:\n    return 'both'\n");
    let latin = b"# -*- coding: latin-1 -*-\nfrom mcp_bash import tool\n\n@tool\ndef latin() -> str:\n    return 'caf\xe9'\n";
    std::fs::write(project.path("tools/latin.py"), latin).unwrap();
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["both", "latin", "marked"]);
    for (tool, said) in [("both", "both"), ("latin", "café"), ("marked", "marked")] {
        assert_eq!(text(&call(&mut server, tool, &json!({}))), said);
    }
    let report =
        Server::command().arg("validate").arg("--project-root").arg(project.root()).output().unwrap();
    assert!(String::from_utf8_lossy(&report.stdout).contains("All checks passed"), "{report:?}");
}

#[test]
fn files_that_should_have_functions_and_have_none_are_reported() {
    let project = Project::with_hi()
        .file(
            "tools/empty.py",
            "from mcp_bash import tool\nif False:\n    @tool\n    def f() -> int: return 1\n",
        )
        .file("tools/bare.py", "from mcp_bash import tool\n\ndef f() -> int: return 1\n")
        .file(
            "tools/old.cjs",
            "const { tool } = require('mcp-bash')\nmodule.exports.a = tool('x', {}, () => 1)\n",
        )
        .file("tools/_helper.py", "from mcp_bash import tool\n");
    let report =
        Server::command().arg("validate").arg("--project-root").arg(project.root()).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    for (problem, remedy) in [
        ("tools/empty.py - was loaded, and no function in it is a tool", "write `@tool` above each function"),
        ("tools/bare.py - is not served: it imports marks", "write `@tool` above each function"),
        (
            "tools/old.cjs - is not served: functions of a `.cjs` file",
            "write `import { tool } from 'mcp-bash'`",
        ),
    ] {
        let mut told = report.lines().skip_while(|line| !line.contains(problem)).skip(1);
        assert!(told.next().is_some_and(|line| line.contains(remedy)), "{problem}: {report}");
    }
    assert!(!report.contains("#!/usr/bin/env") && !report.contains("_helper"), "{report}");
}

#[test]
fn metadata_beside_a_file_makes_it_a_script() {
    let project = Project::new()
        .script(
            "tools/greet.py",
            "#!/usr/bin/env python3\nimport mcp_bash\n@mcp_bash.tool\ndef f(): ...\nprint('script')\n",
        )
        .file("tools/greet.meta.json", r#"{"name": "greet"}"#);
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["greet"]);
    assert_eq!(text(&call(&mut server, "greet", &json!({}))), "script");
}

#[test]
fn arguments_are_checked_against_the_types_before_the_function_runs() {
    let marked = r"from mcp_bash import tool
from typing import List, Literal

@tool
def order(pieces: int, colour: Literal['red', 'blue'], names: List[str]) -> str:
    open('ran', 'a').write('x')
    return f'{pieces} {colour} {names}'
";
    let project = Project::new().file("tools/order.py", marked).file("tools/areas.mjs", AREAS);
    let mut server = quiet(&project);
    let fits = json!({ "pieces": 1, "colour": "red", "names": ["a"] });
    for (member, value, said) in [
        ("pieces", json!("one"), "`/pieces` must be an integer"),
        ("pieces", json!(1.5), "`/pieces` must be an integer"),
        ("pieces", json!(null), "`/pieces`"),
        ("colour", json!("green"), "`/colour`"),
        ("names", json!([{}]), "`/names/0` must be a string"),
        ("other", json!(1), "`/other` is not allowed"),
    ] {
        let mut arguments = fits.clone();
        arguments[member] = value;
        let answer = call(&mut server, "order", &arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).contains(said), "{said} in {answer}");
    }
    assert_eq!(project.read("ran"), "");
    assert_eq!(text(&call(&mut server, "order", &fits)), "1 red ['a']");
    let answer = call(&mut server, "area", &json!({ "width": "2", "height": true }));
    assert!(text(&answer).contains("`/width` must be a number"), "{answer}");
}

#[test]
fn results_match_the_declared_output_schema() {
    let shapes = r"from dataclasses import dataclass
from mcp_bash import tool

@dataclass
class Place:
    name: str
    degrees: float

@tool
def place(name: str) -> Place:
    return Place(name, 21.5)

@tool
def lies() -> int:
    return 'a word'
";
    let in_node = r"import { tool } from 'mcp-bash'
export const sum = tool({ input: { a: 'number' }, output: { sum: 'number' } }, ({ a }) => ({ sum: a + 1 }))
export const liar = tool({ input: {}, output: { sum: 'number' } }, () => ({ sum: 'a word' }))
";
    let project = Project::new().file("tools/shapes.py", shapes).file("tools/shapes.mjs", in_node);
    let mut server = quiet(&project);
    let listed = tools(&mut server);
    let of = |name: &str| listed.iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"].clone();
    assert_eq!(of("place")["properties"]["degrees"], json!({ "type": "number" }));
    assert_eq!(of("sum")["required"], json!(["sum"]));
    let place = call(&mut server, "place", &json!({ "name": "Zoë" }));
    assert_eq!(place["result"]["structuredContent"], json!({ "name": "Zoë", "degrees": 21.5 }));
    let as_text: Value = serde_json::from_str(text(&place)).unwrap();
    assert_eq!(as_text, place["result"]["structuredContent"]);
    let sum = call(&mut server, "sum", &json!({ "a": 1 }));
    assert_eq!(sum["result"]["structuredContent"], json!({ "sum": 2 }));
    for liar in ["lies", "liar"] {
        let answer = call(&mut server, liar, &json!({}));
        assert!(answer["result"]["structuredContent"].get("sum").is_none(), "{answer}");
        assert!(answer["result"]["isError"] == true || answer.get("error").is_some(), "{answer}");
    }
}

#[test]
fn printed_output_is_logged_and_never_the_result() {
    let prints = r"import os, subprocess, sys
from mcp_bash import tool

@tool
def prints() -> str:
    print('to stdout')
    print('to stderr', file=sys.stderr)
    os.write(1, b'{\x22call\x22:1,\x22result\x22:{\x22content\x22:[]}}\n')
    subprocess.run(['echo', 'from a child'])
    return 'result'

@tool
def says_nothing():
    print('only a log')
";
    let in_node = r"import { tool } from 'mcp-bash'
import { execSync } from 'node:child_process'
import { writeSync } from 'node:fs'
export const logs = tool('x', {}, () => {
  console.log('to stdout')
  console.error('to stderr')
  writeSync(1, '{\x22call\x22:1,\x22result\x22:{\x22content\x22:[]}}\n')
  execSync('echo from a child', { stdio: 'inherit' })
  return 'result'
})
";
    let project = Project::new().file("tools/prints.py", prints).file("tools/logs.mjs", in_node);
    let mut server = Server::ready(project.root());
    for tool in ["prints", "logs"] {
        let (answer, news) = call_and_news(&mut server, tool, &json!({}));
        let content = &answer["result"]["content"];
        assert_eq!((content.as_array().unwrap().len(), text(&answer)), (1, "result"), "{answer}");
        let said: Vec<&Value> = news.iter().map(|message| &message["params"]["data"]).collect();
        for line in ["to stdout", "to stderr"] {
            assert!(said.contains(&&json!(line)), "{tool} {line}: {news:?}");
        }
    }
    let (answer, news) = call_and_news(&mut server, "says_nothing", &json!({}));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(!answer.to_string().contains("only a log"), "{answer}");
    assert_eq!(news[0]["params"]["data"], "only a log", "{news:?}");
}

#[test]
fn an_exception_is_one_line_and_its_trace_is_in_the_log() {
    let fails = r"from mcp_bash import ToolError, tool

def inner():
    raise ValueError('no such day\n\nin this month')

@tool
def fails() -> int:
    return inner()

@tool
def advises() -> int:
    raise ToolError('no such day', hint='use YYYY-MM-DD')

@tool
def leaves() -> int:
    raise SystemExit(3)
";
    let in_node = "import { tool } from 'mcp-bash'\nfunction inner() {\n  throw new RangeError('no such day')\n}\nexport const throws = tool('x', {}, () => inner())\n";
    let project = Project::new().file("tools/fails.py", fails).file("tools/throws.mjs", in_node);
    let mut server = Server::ready(project.root());
    for (tool, said, trace) in [
        ("fails", "ValueError: no such day in this month (fails.py:4)", "line 4, in inner"),
        ("throws", "RangeError: no such day (tools/throws.mjs:3)", "throws.mjs:5"),
    ] {
        let (answer, news) = call_and_news(&mut server, tool, &json!({}));
        assert_eq!((text(&answer), &answer["result"]["isError"]), (said, &json!(true)), "{answer}");
        let traced = news.iter().any(|message| message["params"]["data"].to_string().contains(trace));
        assert!(traced, "{trace} in {news:?}");
    }
    let (answer, news) = call_and_news(&mut server, "advises", &json!({}));
    assert_eq!(text(&answer), "no such day. Hint: use YYYY-MM-DD");
    assert!(news.is_empty(), "{news:?}");
    let (answer, _) = call_and_news(&mut server, "leaves", &json!({}));
    assert!(text(&answer).contains("sys.exit(3)"), "{answer}");
    assert_eq!(text(&call(&mut server, "advises", &json!({}))), "no such day. Hint: use YYYY-MM-DD");
}

#[test]
fn two_functions_with_one_name_are_reported() {
    let project = Project::new()
        .file("tools/a.py", "from mcp_bash import tool\n@tool\ndef same() -> str: return 'a'\n@tool\ndef own() -> int: return 1\n")
        .file("tools/b.mjs", "import { tool } from 'mcp-bash'\nexport const same = tool('x', {}, () => 'b')\n");
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["own", "same"]);
    assert_eq!(text(&call(&mut server, "same", &json!({}))), "a");
    let told = told_of(server, "same");
    assert!(told.contains("a.py") && told.contains("b.mjs"), "{told}");
}

#[test]
fn a_group_or_world_writable_file_is_not_run() {
    let marked =
        "open('loaded', 'a').write('x')\nfrom mcp_bash import tool\n@tool\ndef f() -> int: return 1\n";
    let project = Project::new().file("tools/open.py", marked).file("tools/sums.py", SUMS);
    for mode in [0o664, 0o646] {
        std::fs::set_permissions(project.path("tools/open.py"), Permissions::from_mode(mode)).unwrap();
        let mut server = Server::ready(project.root());
        assert_eq!(names(&mut server), ["add", "repeat"]);
        assert_eq!(code(&call(&mut server, "f", &json!({}))), -32602);
        let told = told_of(server, "open.py");
        assert!(told.contains("chmod go-w"), "{told}");
        assert_eq!(project.read("loaded"), "", "{mode:o}");
    }
    // A cached file, whose mode has changed since.
    std::fs::set_permissions(project.path("tools/open.py"), Permissions::from_mode(0o644)).unwrap();
    let mut server = quiet(&project);
    assert_eq!(text(&call(&mut server, "f", &json!({}))), "1");
    std::fs::set_permissions(project.path("tools/open.py"), Permissions::from_mode(0o666)).unwrap();
    let answer = call(&mut server, "f", &json!({}));
    assert!(answer["error"]["message"].as_str().unwrap_or_default().contains("chmod go-w"), "{answer}");
}

#[test]
fn a_registration_replaces_all_discovered_tools() {
    let project =
        Project::with_hi().file("tools/sums.py", &format!("open('loaded', 'a').write('x')\n{SUMS}")).file(
            "server.d/register.json",
            r#"{"version": 1, "tools": [{"name": "only", "path": "hi/tool.sh"}]}"#,
        );
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["only"]);
    assert_eq!(code(&call(&mut server, "add", &json!({ "a": 1, "b": 2 }))), -32602);
    assert_eq!(project.read("loaded"), "");
}

#[test]
fn lists_and_policies_decide_about_functions_too() {
    let project = Project::new().file("tools/sums.py", SUMS);
    let mut server = quiet_with(&project, &[("MCPBASH_TOOL_ALLOWLIST", "repeat")]);
    let refused = call(&mut server, "add", &json!({ "a": 1, "b": 2 }));
    assert_eq!(code(&refused), -32602);
    assert!(refused["error"]["message"].as_str().unwrap().contains("add `add` there"), "{refused}");
    assert_eq!(text(&call(&mut server, "repeat", &json!({ "word": "a" }))), "a a");

    let project = project.file(
        "server.d/policy.sh",
        "mcp_tools_policy_check() { [ \"$1\" != add ] || { mcp_tools_error -32602 'no sums today'; return 1; }; }\n",
    );
    let mut server = quiet(&project);
    let refused = call(&mut server, "add", &json!({ "a": 1, "b": 2 }));
    assert_eq!(refused["error"]["message"], "no sums today", "{refused}");
    assert_eq!(text(&call(&mut server, "repeat", &json!({ "word": "a" }))), "a a");
}

#[test]
fn a_function_knows_its_project_and_the_variables_of_scripts() {
    let function = r"import os
from mcp_bash import tool

@tool
def knows() -> dict:
    return {name: os.environ.get(name) for name in ['MCPBASH_PROJECT_ROOT', 'MCPBASH_TOOLS_DIR', 'MCP_TOOL_ARGS_JSON', 'SECRET_OF_SHELL']} | {'cwd': os.getcwd()}
";
    let project = Project::new().file("tools/knows.py", function);
    let mut server = quiet_with(&project, &[("SECRET_OF_SHELL", "not for scripts")]);
    let answer = call(&mut server, "knows", &json!({}));
    let seen = &answer["result"]["structuredContent"];
    let root = project.root().canonicalize().unwrap().display().to_string();
    assert_eq!((&seen["MCPBASH_PROJECT_ROOT"], &seen["cwd"]), (&json!(root), &json!(root)), "{answer}");
    assert_eq!((&seen["MCP_TOOL_ARGS_JSON"], &seen["SECRET_OF_SHELL"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_file_receives_only_the_variables_that_it_names() {
    let needs = "import os\nfrom mcp_bash import tool, worker\nworker(env=['NEEDED_KEY'])\n@tool\ndef needs() -> list: return [os.environ.get('NEEDED_KEY'), os.environ.get('OTHER_KEY')]\n";
    let in_node = "import { tool, worker } from 'mcp-bash'\nworker({ env: ['NEEDED_KEY'] })\nexport const wants = tool('x', {}, () => [process.env.NEEDED_KEY ?? null, process.env.OTHER_KEY ?? null])\n";
    let project = Project::new().file("tools/needs.py", needs).file("tools/wants.mjs", in_node);
    let mut server = quiet_with(&project, &[("NEEDED_KEY", "secret"), ("OTHER_KEY", "not for them")]);
    for tool in ["needs", "wants"] {
        let answer = call(&mut server, tool, &json!({}));
        let seen: Value = serde_json::from_str(text(&answer)).unwrap();
        assert_eq!(seen, json!(["secret", null]), "{tool}");
    }
}
