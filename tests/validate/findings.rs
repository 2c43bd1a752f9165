//! The findings in a project, and the files that are fine.

use super::{findings, rich, run, validate, with_hi, with_name};
use crate::harness::{Project, Server, make_pipe};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

#[test]
fn a_good_project_passes_strictly() {
    let expected = "Validating project at …...\n\n\
        ✓ server.d/server.meta.json - valid\n\
        ✓ tools/hi/tool.sh - valid (tool hi)\n\
        ✓ prompts/letter.txt - valid (prompt letter)\n\
        ✓ resources/day.meta.json - valid (template day)\n\
        ✓ resources/note.txt - valid (resource note)\n\
        ✓ completions/l.sh - valid (completion letter)\n\n\
        All checks passed (warnings: 0).\n";
    assert_eq!(validate(&rich(), &["--strict"]), (0, expected.to_owned()));
    assert_eq!(
        validate(&rich(), &["-q"]),
        (0, "Validating project at …...\n\n\nAll checks passed (warnings: 0).\n".to_owned())
    );
}

#[test]
fn our_own_examples_pass_strictly() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = Project::new();
    for path in [
        "server.d/server.meta.json",
        "tools/countdown/tool.meta.json",
        "tools/getting-started/tool.meta.json",
    ] {
        let text = fs::read_to_string(repository.join("crates/project/embedded").join(path)).expect("a file");
        project.write(path, &text);
    }
    let project = project
        .script("tools/countdown/tool.sh", "#!/bin/sh\n")
        .script("tools/getting-started/tool.sh", "#!/bin/sh\n");
    assert_eq!(validate(&project, &["--strict"]).0, 0, "{}", findings(&project));
    let sessions = Project::new();
    let made = std::process::Command::new(repository.join("tests/clients/make-project.sh"))
        .arg(sessions.root())
        .output()
        .expect("sh");
    assert!(made.status.success(), "{made:?}");
    run(sessions.root(), &["--fix"]);
    assert_eq!(validate(&sessions, &["--strict"]).0, 0, "{}", findings(&sessions));
}

#[test]
fn files_of_functions_are_not_stray() {
    let project = Project::new()
        .file("tools/about.py", "from mcp_bash import resource\nimport words\n\n@resource('about://b')\ndef b() -> str:\n    return words.B\n")
        .file("tools/words.py", "B = 'b'\n")
        .file("tools/_shared.mjs", "export const one = 1\n")
        .file("tools/test_words.py", "import words\n");
    assert_eq!(validate(&project, &["--strict"]).0, 0, "{}", findings(&project));
    project.write("tools/forgotten.py", "print('hello')\n");
    assert!(findings(&project).contains("tools/forgotten.py - is not served"), "{}", findings(&project));
}

#[test]
fn validate_includes_the_checks_at_the_start() {
    let project = Project::new()
        .file("tools/broken/tool.meta.json", "{\n  \"name\": \"broken\"\n")
        .script("tools/broken/tool.sh", "#!/bin/sh\n")
        .script("tools/odd/tool.sh", "#!/usr/bin/no-such-thing\n")
        .file("tools/odd/tool.meta.json", "{\n  \"desciption\": \"Odd\",\n  \"description\": \"Odd\",\n  \"annotations\": {\"readOnlyHint\": true}\n}");
    let expected = "Validating project at …...\n\n\
        ✗ tools/broken/tool.meta.json:2 - is skipped: EOF while parsing an object\n    \
            → fix the JSON\n\
        ⚠ tools/odd/tool.meta.json:2 - has the unknown key `desciption`, which is ignored\n    \
            → write `description` if that is what you mean\n\
        ✗ tools/odd/tool.sh:1 - names the interpreter `/usr/bin/no-such-thing`, which does not exist\n    \
            → install no-such-thing, or name an interpreter that is there\n\n\
        2 error(s) found. Follow the advice after each arrow, and validate again.\n";
    assert_eq!(validate(&project, &[]), (1, expected.to_owned()));
}

#[test]
fn warnings_count_as_errors_only_strictly() {
    let project = with_name("a.b");
    let warned = "⚠ tools/x/tool.meta.json:1 - calls its tool `a.b`: the APIs of Anthropic, OpenAI and Amazon Bedrock \
        (and so Claude Desktop) refuse every request that has it, with all other tools, and Semantic Kernel loses all tools of \
        the server\n    → use at most 64 letters, digits, `_` and `-`\n\n";
    let (code, text) = validate(&project, &[]);
    assert_eq!(
        (code, &*text),
        (0, &*format!("Validating project at …...\n\n{warned}All checks passed (warnings: 1).\n"))
    );
    let (code, text) = validate(&project, &["--strict"]);
    let end = "1 error(s) found (warnings count as errors: --strict). Follow the advice after each arrow, and validate again.\n";
    assert_eq!((code, &*text), (1, &*format!("Validating project at …...\n\n{warned}{end}")));
}

#[test]
fn unreachable_files_are_reported() {
    let project = with_hi()
        .script("tools/lost/tool.sh", "#!/bin/sh\n# mcp: {\"annotations\": {\"readOnlyHint\": true}}\n")
        .file("tools/lost/tool.json", r#"{"description": "Lost", "inputSchema": {}}"#)
        .file("tools/hi/ui/index.html", "<p>")
        .file("tools/hi/ui/ui.meta.json", r#"{"meta": {}}"#)
        .file("tools/hi/data.json", r#"{"description": "what the tool reads"}"#)
        .file("server.d/policy.bash", "mcp_tools_policy_check() { return 1; }\n")
        .file("server.d/helpers.sh", "x=1\n")
        .file("prompts/greet.tpl", "Hello {{name}}")
        .file("prompts/list.json", r#"[{"role": "user"}]"#)
        .file("prompts/letter.txt", "Write.")
        .file("prompts/letter.completion.sh", "#!/bin/sh\n")
        .script("prompts/other.completion.sh", "#!/bin/sh\n")
        .script("completions/c.sh", "#!/bin/sh\n")
        .script("providers/foo.sh", "#!/bin/sh\n")
        .script("resource/x.txt", "x");
    let expected = "\
⚠ resource - is not searched: no part of a project is called so
    → rename it: `mv …/resource …/resources`
⚠ server.d/policy.bash - is not read: no file of the server is called so
    → call it `policy.sh` if that is what you mean
⚠ tools/hi/ui/ui.meta.json - is not used: interfaces of tools (MCP Apps, `ui://`) are not served
    → remove it, or leave it to other servers: clients show what the tool prints
⚠ tools/lost/tool.json - is not read: the names of metadata end with `.meta.json` or `.meta.yaml`
    → call it `tool.meta.json` if it describes tool.sh
⚠ tools/lost/tool.sh - does not describe its tool `lost`: a model knows only by its name when to call it
    → say in `description` what it does, and when to use it
⚠ prompts/greet.tpl - is not served: texts that end with `.tpl` are no prompts by themselves
    → call it `greet.txt` or `greet.md`, or put `greet.meta.json` beside it
⚠ prompts/letter.completion.sh - completes nothing: it is not executable
    → run `chmod +x …/prompts/letter.completion.sh`
⚠ prompts/list.json - is not served: messages as JSON are a prompt only with metadata
    → put `list.meta.json` beside it
⚠ prompts/other.completion.sh - completes nothing: there is no prompt of that name beside it
    → call it like the prompt it completes for, with `.completion.sh` for the ending
⚠ providers/foo.sh - reads nothing: no resource or template names the provider `foo` or has a URI that begins with `foo:`
    → add a resource or a template for it, such as resources/foo.meta.json with a `uriTemplate`
⚠ completions/c.sh - completes nothing: it is not registered
    → add {\"name\": \"…\", \"path\": \"completions/c.sh\"} to `completions` in server.d/register.json, with the name of a \
prompt or the URI of a resource
";
    assert_eq!(findings(&project), expected);
}

#[test]
fn a_policy_that_does_not_define_its_function() {
    for (policy, expected) in [
        (
            "# Who may call what.\nmcp_tool_policy_check() {\n\treturn 1\n}\n",
            "✗ server.d/policy.sh:2 - does not define the function `mcp_tools_policy_check`, so that every call is refused\n    \
             → call the function `mcp_tool_policy_check` so\n",
        ),
        (
            "READ_ONLY=1\n",
            "✗ server.d/policy.sh - does not define the function `mcp_tools_policy_check`, so that every call is refused\n    \
             → define it, or remove the file to allow every call\n",
        ),
        (". \"$MCPBASH_SERVER_DIR/rules.bash\"\n", ""),
        ("function mcp_tools_policy_check { return 1; }\n", ""),
    ] {
        let project = with_hi().file("server.d/policy.sh", policy);
        let found = findings(&project);
        let found: String =
            found.split_inclusive('\n').skip_while(|line| !line.contains("policy.sh")).take(2).collect();
        assert_eq!(found, expected);
        let mut health = Server::command();
        health.args(["health", "--json", "--project-root"]).arg(project.root());
        let expected = i32::from(!expected.is_empty());
        assert_eq!(health.output().unwrap().status.code(), Some(expected), "{policy}");
    }
}

#[test]
fn a_folder_without_any_part_of_a_project_is_none() {
    let empty = tempfile::tempdir().unwrap();
    for words in [&["."][..], &["--project-root", "."], &[".", "--strict"]] {
        let output = run(empty.path(), words);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("✗ . - has nothing to serve: there are neither tools,"), "{said}");
        assert!(
            said.ends_with("1 error(s) found. Follow the advice after each arrow, and validate again.\n"),
            "{said}"
        );
    }
    let health = Server::command().args(["health", "."]).current_dir(empty.path()).output().unwrap();
    let report: Value = serde_json::from_slice(&health.stdout).unwrap();
    assert_eq!((health.status.code(), &report["status"]), (Some(2), &json!("misconfigured")));
    fs::create_dir(empty.path().join("prompts")).unwrap();
    assert_eq!(run(empty.path(), &[".", "--strict"]).status.code(), Some(0));
}

#[test]
fn a_tool_that_is_not_run_is_not_called_valid() {
    let project = with_hi().tool("other", "#!/bin/sh\n").tool("sound", "#!/bin/sh\n");
    for (path, mode) in [("tools/hi", 0o775), ("tools/other/tool.sh", 0o777)] {
        fs::set_permissions(project.path(path), Permissions::from_mode(mode)).unwrap();
    }
    let (code, text) = validate(&project, &[]);
    assert_eq!(code, 1);
    assert!(text.contains("✗ . - 2 paths are writable"), "{text}");
    assert!(text.contains("✓ tools/sound/tool.sh"), "{text}");
    assert!(!text.contains("✓ tools/hi") && !text.contains("✓ tools/other"), "{text}");
}

#[test]
fn odd_files_do_no_harm_and_nothing_moves_the_cursor() {
    let huge = format!("{{\"name\": \"huge\", \"description\": \"{}\"}}", "x".repeat(20 * 1024 * 1024));
    let project = with_hi()
        .script("tools/odd/tool.sh", "#!/bin/sh\n")
        .file("tools/odd/tool.meta.json", r#"{"name": "o\u001b[2Jd", "de\u001b]0;x": 1, "description": "O"}"#)
        .script("tools/huge/tool.sh", "#!/bin/sh\n")
        .file("tools/huge/tool.meta.json", &huge)
        .script("tools/\u{1b}[31mred.sh", "#!/bin/sh\n")
        .file("prompts/\u{1b}[31mred.tpl", "x")
        .script("tools/deep/tool.sh", "#!/bin/sh\n")
        .file(
            "tools/deep/tool.meta.json",
            &format!("{{\"inputSchema\": {}{}}}", "{\"not\":".repeat(5000), "}".repeat(5000)),
        );
    symlink(project.path("tools"), project.path("tools/loop")).unwrap();
    symlink("nowhere", project.path("tools/gone.sh")).unwrap();
    symlink("circle", project.path("prompts/circle")).unwrap();
    let nameless = std::ffi::OsStr::from_bytes(b"tools/\xff\xfe.sh");
    fs::write(project.root().join(nameless), "x").unwrap();
    make_pipe(&project.path("tools/pipe.sh"), 0o755);
    make_pipe(&project.path("tools/hi/tool.json"), 0o644);
    for arguments in [&[][..], &["--json"], &["--fix"], &["--explain-defaults"]] {
        let output = run(project.root(), arguments);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.contains("tools/loop") && text.contains("tools/huge/tool.meta.json"), "{text}");
        assert!(!text.contains("tools/loop/"), "{text}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_project_folder_can_have_any_name() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join(std::ffi::OsStr::from_bytes(b"it's \xff\n here"));
    fs::rename(with_hi().into_folder(), &folder).unwrap();
    for arguments in
        [&["validate", "--strict"][..], &["validate", "--json", "--explain-defaults"], &["health"]]
    {
        let mut command = Server::command();
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_thousand_tools_are_validated() {
    let schema =
        r#"{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {}}}}"#;
    // Clients refuse its name.
    let name = |number: u32| if number == 567 { "t.567".to_owned() } else { format!("t{number}") };
    let project = (0..1000).fold(Project::new(), |project, number| {
        let name = name(number);
        let metadata = format!(r#"{{"name": "{name}", "description": "T", "inputSchema": {schema}}}"#);
        project
            .script(&format!("tools/t{number}/tool.sh"), "#!/bin/sh\n")
            .file(&format!("tools/t{number}/tool.meta.json"), &metadata)
    });
    let (code, text) = validate(&project, &[]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(text.matches(" - valid (tool t").count(), 999, "{text}");
    assert_eq!(text.matches("⚠ tools/t567/tool.meta.json:1 - calls its tool `t.567`").count(), 1, "{text}");
}

#[test]
fn the_keys_of_bundles_are_known() {
    let project = Project::with_hi().file(
        "server.d/server.meta.json",
        r#"{"name": "x", "author": {"name": "a"}, "repository": "r", "license": "MIT", "keywords": [], "screenshots": [],
            "user_config": {}, "user_config_env_map": {}, "long_description_file": "d", "localization": {}, "autor": "b"}"#,
    );
    let output = Server::command().arg("validate").arg(project.root()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.matches("unknown key").count(), 1, "{text}");
    assert!(text.contains("has the unknown key `autor`") && text.contains("write `author`"), "{text}");
}

#[test]
fn traps_are_found_in_scripts_that_a_command_starts() {
    let script = "#!/bin/bash\nselect size in small large; do break; done\nsudo ls \"$DATA_FOLDER\"\n";
    for command in [r#"["./bin/it.sh"]"#, r#"["bash", "bin/it.sh"]"#] {
        let project = Project::new().script("bin/it.sh", script).file(
            "tools/it.meta.json",
            &format!(
                r#"{{"name": "it", "description": "Does it.", "command": {command}, "annotations": {{"readOnlyHint": true}}}}"#
            ),
        );
        let (code, text) = validate(&project, &[]);
        assert_eq!(code, 0, "{text}");
        for expected in [
            "⚠ bin/it.sh:2 - asks at a terminal (`select`)",
            "⚠ bin/it.sh:3 - asks at a terminal (`sudo`)",
            "⚠ bin/it.sh:3 - reads the variable `DATA_FOLDER`, which it does not receive",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let answered = project
            .script("bin/it.sh", "#!/bin/bash\nread -p 'Name: ' name\necho \"$name $DATA_FOLDER\"\n")
            .file(
                "tools/it.meta.json",
                &format!(
                    r#"{{"name": "it", "description": "Does it.", "command": {command}, "stdin": "{{name}}\n",
                        "env": ["DATA_FOLDER"], "annotations": {{"readOnlyHint": true}}}}"#
                ),
            );
        let (code, text) = validate(&answered, &[]);
        assert!(code == 0 && !text.contains("bin/it.sh"), "{text}");
    }
}
