//! Common mistakes and their messages: each names the place and the next step. Paths are relative to the
//! project, which is `…` here.

use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// All findings of `--health`, one per line.
fn findings(project: &Project) -> String {
    findings_with(project, &[])
}

fn findings_with(project: &Project, environment: &[(&str, &str)]) -> String {
    let mut command = Server::command();
    command.arg("--health").arg("--project-root").arg(project.root()).envs(environment.iter().copied());
    let output = command.output().expect("the binary runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let root = project.root().to_str().expect("a name");
    let lines = report["problems"].as_array().expect("a list").iter().map(|found| {
        let text = |key: &str| found[key].as_str().unwrap_or("-").replace(root, "…");
        let place = match (found["line"].as_u64(), found["column"].as_u64()) {
            (Some(line), Some(column)) => format!(":{line}:{column}"),
            (Some(line), None) => format!(":{line}"),
            _ => String::new(),
        };
        format!("{} {}{place}: {}\n→ {}\n", text("severity"), text("file"), text("problem"), text("remedy"))
    });
    lines.collect()
}

fn tool(script: &str) -> Project {
    Project::new().tool("x", script)
}

fn described(metadata: &str) -> Project {
    Project::with_hi()
        .script("tools/x/tool.sh", "#!/bin/sh\necho x\n")
        .file("tools/x/tool.meta.json", metadata)
}

fn assert_told(project: &Project, expected: &str) {
    assert_eq!(findings(project), expected);
}

#[test]
fn a_missing_interpreter() {
    assert_told(
        &tool("#!/usr/bin/pyton3\nprint(1)\n"),
        "error …/tools/x/tool.sh:1: names the interpreter `/usr/bin/pyton3`, which does not exist\n\
         → install pyton3, or name an interpreter that is there\n",
    );
}

#[test]
fn an_interpreter_that_is_elsewhere() {
    assert_told(
        &tool("#!/opt/nowhere/sh\necho\n"),
        "error …/tools/x/tool.sh:1: names the interpreter `/opt/nowhere/sh`, which does not exist\n\
         → write `#!/usr/bin/env sh`, which finds the one on PATH\n",
    );
}

#[test]
fn an_interpreter_without_a_path_and_none_at_all() {
    assert_told(
        &tool("#!bash\necho\n"),
        "error …/tools/x/tool.sh:1: names the interpreter `bash`, which is no absolute path\n\
         → write `#!/usr/bin/env bash`\n",
    );
    assert_told(
        &tool("#!\necho\n"),
        "error …/tools/x/tool.sh:1: has a `#!` line that names no interpreter\n\
         → write one, such as `#!/usr/bin/env bash`\n",
    );
}

#[test]
fn env_of_a_program_that_is_not_there() {
    assert_told(
        &tool("#!/usr/bin/env no-such-program\n"),
        "error …/tools/x/tool.sh:1: is to be run by `no-such-program`, which is not on the PATH of scripts\n\
         → install no-such-program, or add its folder to MCPBASH_PATH\n",
    );
}

#[test]
#[cfg(target_os = "linux")]
fn env_with_two_words() {
    assert_told(
        &tool("#!/usr/bin/env bash -e\necho\n"),
        "error …/tools/x/tool.sh:1: lets `env` look for a program called `bash -e`: on Linux it gets all words as one\n\
         → write `#!/usr/bin/env -S bash -e`\n",
    );
    assert_told(&tool("#!/usr/bin/env -S bash -e\necho\n"), "");
}

#[test]
fn line_ends_of_another_system() {
    assert_told(
        &tool("#!/bin/sh\r\necho\r\n"),
        "error …/tools/x/tool.sh:1: ends its lines with CRLF, so that the system looks for an interpreter called \
         `/bin/sh\\r`\n→ run `sed -i 's/\\r$//' …/tools/x/tool.sh`\n",
    );
    assert_told(
        &tool("#!/bin/sh\necho 1\necho 2\r\n"),
        "error …/tools/x/tool.sh:3: ends lines with CRLF, of which a shell takes the CR for a part of the command\n\
         → run `sed -i 's/\\r$//' …/tools/x/tool.sh`\n",
    );
}

#[test]
fn a_byte_order_mark() {
    assert_told(
        &tool("\u{feff}#!/bin/sh\necho\n"),
        "error …/tools/x/tool.sh:1: starts with a byte-order mark, so that the system does not see its `#!`\n\
         → save it as UTF-8 without one: `sed -i '1s/^\\xEF\\xBB\\xBF//' …/tools/x/tool.sh`\n",
    );
}

#[test]
fn an_executable_of_unknown_format() {
    let project = Project::new().script("tools/x/tool.py", "print(1)\n").file("tools/x/tool.meta.json", "{}");
    let missing = findings_with(&project, &[("MCPBASH_PATH", "/nowhere")]);
    let expected = "error …/tools/x/tool.py:1: is executable, but does not start with `#!`, so that the system does not \
                    know what runs it\n→ add the first line `#!/usr/bin/env python3`";
    assert_eq!(missing, format!("{expected}, and install python3, which is not on the PATH of scripts\n"));
}

#[test]
fn a_script_that_is_neither_executable_nor_says_what_runs_it() {
    let described =
        Project::with_hi().file("tools/x/tool.py", "print(1)\n").file("tools/x/tool.meta.json", "{}");
    assert_told(
        &described,
        "error …/tools/x/tool.py: is skipped: it is neither executable nor starts with `#!`\n→ run `chmod +x` on it\n",
    );
    assert_told(
        &Project::with_hi().file("tools/x.py", "print(1)\n"),
        "warning …/tools/x.py: is not served: it is neither executable nor starts with `#!`\n\
         → add the first line `#!/usr/bin/env python3` and run `chmod +x …/tools/x.py`, or move it out of the tools if \
         it is none\n",
    );
    let helper = Project::with_hi().file("tools/hi/helper.py", "def f(): pass\n");
    assert_told(&helper, "");
}

#[test]
fn a_number_in_quotes() {
    assert_told(
        &described("{\n  \"name\": \"x\",\n  \"timeoutSecs\": \"90\"\n}\n"),
        "error …/tools/x/tool.meta.json:3:3: is skipped: `timeoutSecs` must be a whole number of at least 0, not the \
         string \"90\"\n→ write 90 without quotes\n",
    );
    let yaml = Project::with_hi()
        .script("tools/x/tool.sh", "#!/bin/sh\n")
        .file("tools/x/tool.meta.yaml", "name: x\nprogressExtendsTimeout: \"yes\"\n");
    assert_told(
        &yaml,
        "error …/tools/x/tool.meta.yaml:2:1: is skipped: `progressExtendsTimeout` must be true or false, not the string \
         \"yes\"\n→ write true or false\n",
    );
    assert_told(
        &Project::with_hi().file("server.d/server.meta.json", "{\n\"version\": 1\n}\n"),
        "warning …/server.d/server.meta.json:2:1: is ignored: `version` must be a string, not 1\n→ put it in quotes\n",
    );
}

#[test]
fn metadata_that_is_no_json_and_no_yaml() {
    assert_told(
        &described("{\n  \"name\": \"x\",\n  \"name\": \"y\"\n}\n"),
        "error …/tools/x/tool.meta.json: is skipped: duplicate field `name`\n→ fix the JSON\n",
    );
    assert_told(
        &described("{\n  \"name\": \"x\",\n}\n"),
        "error …/tools/x/tool.meta.json:3:1: is skipped: expected a quoted key, or the comma before it is one \
         too many\n→ fix the JSON\n",
    );
    let yaml = Project::with_hi()
        .script("tools/x/tool.sh", "#!/bin/sh\n")
        .file("tools/x/tool.meta.yaml", "name: x\ntitle: [\n");
    assert_told(
        &yaml,
        "error …/tools/x/tool.meta.yaml:2:8: is skipped: unclosed bracket '['\n→ fix the YAML\n",
    );
    let inline = Project::with_hi().script("tools/x/tool.sh", "#!/bin/sh\n# mcp: {\"name\": x}\n");
    assert_told(
        &inline,
        "error …/tools/x/tool.sh:2:10: is skipped: the `mcp:` line: expected value\n→ fix the JSON\n",
    );
}

#[test]
fn two_metadata_files_of_which_one_is_never_read() {
    let project = described("{}").file("tools/x/tool.meta.yaml", "name: [\n");
    assert_told(
        &project,
        "warning …/tools/x/tool.meta.yaml:1:7: is not read, because tool.meta.json is beside it, and cannot be read: \
         unclosed bracket '['\n→ keep one of the two and delete the other\n",
    );
}

#[test]
fn a_misspelt_key() {
    let unknown = |place: &str, key: &str, remedy: &str| {
        format!("warning {place}: has the unknown key `{key}`, which is ignored\n→ {remedy}\n")
    };
    let meant = |word: &str| format!("write `{word}` if that is what you mean");
    let json =
        described("{\n \"name\": \"x\",\n \"desciption\": \"\",\n \"x-mine\": 1,\n \"colour\": 1\n}\n");
    assert_told(
        &json,
        &[
            unknown("…/tools/x/tool.meta.json:3:2", "desciption", &meant("description")),
            unknown("…/tools/x/tool.meta.json:5:2", "colour", "remove it, or put it into `_meta`"),
        ]
        .concat(),
    );
    let yaml = Project::with_hi()
        .script("tools/x/tool.sh", "#!/bin/sh\n")
        .file("tools/x/tool.meta.yaml", "name: x\ntimeout: 5\n");
    assert_told(&yaml, &unknown("…/tools/x/tool.meta.yaml:2", "timeout", &meant("timeoutSecs")));
    let inline = Project::with_hi().script("tools/x/tool.sh", "#!/bin/sh\n# mcp: {\"titel\": \"X\"}\n");
    assert_told(&inline, &unknown("…/tools/x/tool.sh:2", "titel", &meant("title")));
    let prompt =
        Project::with_hi().file("prompts/p.txt", "Hello").file("prompts/p.meta.json", r#"{"argumnets": []}"#);
    assert_told(&prompt, &unknown("…/prompts/p.meta.json:1:2", "argumnets", &meant("arguments")));
    let template = Project::with_hi()
        .file("resources/t.meta.json", r#"{"name": "t", "uriTemplate": "file:///{p}", "mimetypes": "a/b"}"#);
    assert_told(&template, &unknown("…/resources/t.meta.json:1:45", "mimetypes", &meant("mimeType")));
    let server = Project::with_hi().file("server.d/server.meta.json", r#"{"titel": "X"}"#);
    assert_told(&server, &unknown("…/server.d/server.meta.json:1:2", "titel", &meant("title")));
    let entry = r#"{"version": 1, "tools": [{"name": "hi", "path": "hi/tool.sh", "tilte": "X"}]}"#;
    let registered = Project::with_hi().file("server.d/register.json", entry);
    assert_told(&registered, &unknown("…/server.d/register.json:1:63", "tilte", &meant("title")));
}

#[test]
fn an_unknown_kind_in_a_registration() {
    assert_told(
        &Project::with_hi().file("server.d/register.json", r#"{"version": 1, "tool": []}"#),
        "error …/server.d/register.json: keeps everything from being served: it has the unknown key `tool`\n\
         → write `tools` if that is what you mean\n",
    );
}

#[test]
fn a_schema_that_is_none() {
    assert_told(
        &described(r#"{"inputSchema": "object"}"#),
        "error …/tools/x/tool.meta.json: is skipped: `inputSchema` must be an object\n→ write it between `{` and `}`\n",
    );
    assert_told(
        &described(r#"{"inputSchema": {"type": "string"}}"#),
        "error …/tools/x/tool.meta.json: is skipped: `inputSchema` must have the type \"object\", not \"string\"\n\
         → write `\"type\": \"object\"` and put the rest into `properties`\n",
    );
    assert_told(
        &described("{\"inputSchema\": {\"properties\": {\n \"a\": {\"type\": \"strin\"}}}}"),
        "error …/tools/x/tool.meta.json:2:16: has an `inputSchema` that cannot be used, so that every call fails: the \
         schema is not valid: `/properties/a/type` must be \"array\", \"boolean\", \"integer\", \"null\", \"number\", \
         \"object\", \"string\" or an array, but \"strin\" (a string) was given\n→ fix the schema\n",
    );
}

#[test]
fn a_schema_that_nothing_fits() {
    assert_told(
        &described(
            "{\"inputSchema\": {\n\"required\": [\"b\"],\n\"properties\": {\"a\": {}},\n\"additionalProperties\": false}}",
        ),
        "error …/tools/x/tool.meta.json:1:17: `inputSchema`: no object fits, since `b` is required, but not in \
         `properties`, and no others are allowed; so no arguments can ever fit\n→ fix the schema\n",
    );
    assert_told(
        &described(
            "{\"outputSchema\": {\"type\": \"object\", \"properties\": {\"a\": {\"properties\":\n\
             {\"b\": {\"minLength\": 5, \"maxLength\": 2}}}}}}",
        ),
        "warning …/tools/x/tool.meta.json:2:7: `outputSchema/properties/a/properties/b`: no string fits, since \
         `minLength` 5 is above `maxLength` 2\n→ fix the schema\n",
    );
}

#[test]
fn a_misspelt_setting() {
    let environment = [("MCPBASH_LOGLEVEL", "debug"), ("MCP_TIMEOUT", "5"), ("MCPBASH_COLOUR", "s3cr3t")];
    assert_eq!(
        findings_with(&Project::with_hi(), &environment),
        "warning -: MCPBASH_COLOUR is set, which is no setting\n→ unset it; docs/settings.md lists all settings\n\
         warning -: MCPBASH_LOGLEVEL is set, which is no setting\n→ set MCPBASH_LOG_LEVEL if that is what you mean\n",
    );
}

fn chmod(project: &Project, path: &str, mode: u32) {
    std::fs::set_permissions(project.path(path), PermissionsExt::from_mode(mode)).expect("permissions");
}

#[test]
fn group_or_world_writable_paths() {
    let policy = "mcp_tools_policy_check() { :; }\n";
    let project = Project::with_hi().tool("x", "#!/bin/sh\n").file("server.d/policy.sh", policy);
    for (path, mode) in [("tools/hi", 0o775), ("tools/hi/tool.sh", 0o777), ("server.d/policy.sh", 0o664)] {
        chmod(&project, path, mode);
    }
    assert_told(
        &project,
        "error …: 3 paths are writable by their group or by everyone, so that scripts in them are not run\n\
         → run `chmod go-w …/server.d/policy.sh …/tools/hi …/tools/hi/tool.sh`\n",
    );
}

/// The commands in backticks that a fix names.
fn commands(findings: &str, project: &Project) -> Vec<String> {
    let quoted = findings.split('`').skip(1).step_by(2);
    let commands = quoted.filter(|words| ["sed ", "chmod "].iter().any(|name| words.starts_with(name)));
    commands.map(|command| command.replace('…', project.root().to_str().expect("a name"))).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn the_named_commands_fix_the_problems() {
    let project = Project::new()
        .tool("crlf", "#!/bin/sh\r\necho\r\n")
        .tool("a mark's", "\u{feff}#!/bin/sh\necho\n")
        .tool("open", "#!/bin/sh\necho\n");
    chmod(&project, "tools/open/tool.sh", 0o777);
    let before = findings(&project);
    let commands = commands(&before, &project);
    assert_eq!(commands.len(), 3, "{before}");
    for command in commands {
        assert!(Command::new("sh").args(["-c", &command]).status().expect("a shell").success(), "{command}");
    }
    chmod(&project, "tools/crlf/tool.sh", 0o755);
    let after = findings(&project);
    assert!(!after.contains("error"), "{after}");
}

#[test]
fn an_error_makes_a_call_fail() {
    for script in [
        "#!/usr/bin/pyton3\n",
        "#!/bin/sh\r\necho\r\n",
        "\u{feff}#!/bin/sh\necho\n",
        "#!/usr/bin/env no-such\n",
        "#!sh\n",
        "x = 1\n",
    ] {
        let project = tool(script);
        assert!(findings(&project).starts_with("error"), "{script:?}");
        let mut server = Server::ready(project.root());
        let answer = server.ask(1, "tools/call", &json!({ "name": "x", "arguments": {} }));
        let failed = answer.get("error").is_some() || answer["result"]["isError"] == true;
        assert!(failed, "{script:?}: {answer}");
    }
}

#[test]
fn a_running_server_logs_the_same_findings_for_later_saves_too() {
    let project = tool("#!/usr/bin/pyton3\n");
    let log = project.path("server.log");
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).arg("--log-file").arg(&log);
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let told = |words: &str| {
        wait_until(words, || {
            project.read("server.log").lines().any(|line| line.contains(words)).then_some(())
        });
    };
    told("names the interpreter `/usr/bin/pyton3`, which does not exist; install pyton3");
    project.write("tools/x/tool.sh", "#!/bin/sh\r\necho hello there\r\n");
    told("ends its lines with CRLF");
    let count = project.read("server.log").matches("/usr/bin/pyton3").count();
    assert_eq!(count, 1, "it is told once");
}

#[test]
fn hostile_files_are_read_and_quoted_only_in_part() {
    let long = "k".repeat(100_000);
    let project = Project::with_hi()
        .script("tools/x/tool.sh", &format!("#!/{long}\n"))
        .file("tools/x/tool.meta.json", &format!("{{\"{long}\": 1, \"\\u001b[2J\": 2}}"))
        .script("tools/zero/tool.sh", "")
        .file("server.d/server.meta.json", &"[".repeat(100_000));
    std::os::unix::fs::symlink(".", project.path("tools/loop")).expect("a link");
    std::os::unix::fs::symlink("..", project.path("tools/up")).expect("a link");
    let found = findings(&project);
    assert!(found.len() < 20_000, "{} bytes", found.len());
    assert!(!found.contains('\u{1b}'), "{found}");
    assert!(found.contains("has a `#!` line of more than 255 bytes"), "{found}");
}
