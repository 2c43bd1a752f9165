//! The output of `mcp-bash validate`: reports, explanations, next steps, help.

use super::{report, rich, run, validate, with_hi, with_name};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn a_report_for_programs() {
    let project = with_name("a.b").file("server.d/server.meta.json", r#"{"name": "box"}"#);
    let (code, told) = report(&project, &["--strict"]);
    let message = "tools/x/tool.meta.json:1 - calls its tool `a.b`: the APIs of Anthropic, OpenAI and Amazon Bedrock (and so \
                   Claude Desktop) refuse every request that has it, with all other tools, and Semantic Kernel loses all tools \
                   of the server";
    let expected = json!({
        "projectRoot": "…",
        "errors": 0,
        "warnings": 1,
        "fixesApplied": 0,
        "strict": true,
        "defaults": { "name": "box", "title": "Box", "version": "0.0.0" },
        "messages": [
            {
                "level": "info",
                "section": "server",
                "message": "server.d/server.meta.json - valid",
                "file": "…/server.d/server.meta.json",
                "line": null,
                "remedy": null,
            },
            {
                "level": "warning",
                "section": "tools",
                "message": message,
                "file": "…/tools/x/tool.meta.json",
                "line": 1,
                "remedy": "use at most 64 letters, digits, `_` and `-`",
            },
        ],
    });
    assert_eq!((code, told), (1, expected));
}

#[test]
fn settings_and_registrations_have_their_own_sections() {
    let project = with_hi().file("server.d/register.json", "{\"tool\": []}");
    let mut command = Server::command();
    command.args(["validate", "--json"]).current_dir(project.root()).env("MCPBASH_MAX_JSON_DEPTH", "deep");
    let output = command.output().expect("the binary runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let sections: Vec<&str> =
        told["messages"].as_array().unwrap().iter().filter_map(|one| one["section"].as_str()).collect();
    assert_eq!((output.status.code(), sections), (Some(1), vec!["register", "settings"]), "{told}");
}

#[test]
fn defaults_are_explained() {
    let project = rich()
        .script("tools/quick.sh", "#!/bin/sh\n# mcp: {\"description\": \"Quick\", \"title\": \"Q\", \"annotations\": {\"readOnlyHint\": true}}\n")
        .file("tools/ls.meta.json", r#"{"description": "Lists", "command": ["ls", "{path}"], "annotations": {"readOnlyHint": true}}"#);
    let (code, text) = validate(&project, &["--explain-defaults", "-q"]);
    let expected = "Validating project at …...\n\n\n\
        Defaults used: name=rich, title=Rich, version=2.0.0\n\
        server\n  \
          name         rich: server.d/server.meta.json\n  \
          title        Rich: made from the name\n  \
          version      2.0.0: server.d/server.meta.json\n\
        tool hi (tools/hi/tool.sh)\n  \
          name         hi: tool.meta.json\n  \
          description  The tool hi: tool.meta.json\n  \
          inputSchema  nothing is said, so that any arguments are taken\n\
        tool ls (tools/ls.meta.json)\n  \
          name         ls: the name of the file\n  \
          description  Lists: ls.meta.json\n  \
          inputSchema  made from what its program is given\n\
        tool quick (tools/quick.sh)\n  \
          name         quick: the name of the file\n  \
          title        Q: its `# mcp:` line\n  \
          description  Quick: its `# mcp:` line\n  \
          inputSchema  nothing is said, so that any arguments are taken\n\
        prompt letter (prompts/letter.txt)\n  \
          name         letter: the name of the file\n\
        resource note (resources/note.txt)\n  \
          name         note: the name of the file\n  \
          uri          file://…/resources/note.txt: the path of the file\n  \
          mimeType     text/plain: the name and the beginning of the file\n\
        template day (resources/day.meta.json)\n  \
          name         day: day.meta.json\n  \
          uriTemplate  day://{date}: day.meta.json\n\n\
        All checks passed (warnings: 0).\n";
    assert_eq!((code, &*text), (0, expected));
    let (_, told) = report(&project, &["--explain-defaults"]);
    assert_eq!(
        told["entries"][1],
        json!({
            "kind": "tool",
            "name": "hi",
            "file": "…/tools/hi/tool.sh",
            "origins": [
                { "field": "name", "value": "hi", "from": "tool.meta.json" },
                { "field": "description", "value": "The tool hi", "from": "tool.meta.json" },
                { "field": "inputSchema", "value": "", "from": "nothing is said, so that any arguments are taken" },
            ],
        })
    );
}

#[test]
fn the_command_of_the_inspector_is_shown() {
    let project = with_hi();
    let (code, text) = validate(&project, &["--inspector"]);
    let own = env!("CARGO_BIN_EXE_mcp-bash");
    let command = format!(
        "npx --yes @modelcontextprotocol/inspector@2 --cli --method tools/list --strict -- {own} --project-root …"
    );
    let root = project.root().canonicalize().unwrap();
    let own = Path::new(own).canonicalize().unwrap();
    let command = command.replace(env!("CARGO_BIN_EXE_mcp-bash"), own.to_str().unwrap());
    assert_eq!(code, 0);
    assert!(text.ends_with(&format!(":\n\n  {command}\n")), "{text} {}", root.display());
    assert_eq!(report(&project, &["--inspector"]).1["inspector"], json!(command));
}

#[test]
fn the_next_step_is_one_that_helps() {
    let project = Project::new().tool("mixed", "#!/bin/sh\necho '\r\n'\n");
    let (_, text) = validate(&project, &[]);
    assert!(
        text.ends_with("1 error(s) found. Follow the advice after each arrow, and validate again.\n"),
        "{text}"
    );
}

#[test]
fn no_project_and_wrong_flags_are_usage_errors() {
    let empty = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&[][..], "mcp-bash: no project found here: use --project-root or set MCPBASH_PROJECT_ROOT"),
        (&["--project-root", "/no/such"], "mcp-bash: --project-root does not exist: /no/such"),
        (&["--stirct"], "error: unexpected argument '--stirct' found"),
    ] {
        let output = run(empty.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(words), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_help_has_examples() {
    let output = run(Path::new("/"), &["--help"]);
    let expected = "\
Find problems in a project, including what known clients refuse, and repair what is safe

Usage: mcp-bash validate [OPTIONS] [DIR]

Arguments:
  [DIR]  The folder to check, as with `--project-root`

Options:
      --project-root <DIR>  The project folder, which contains `tools/`, `resources/`, `prompts/` or
                            `server.d/`
      --strict              Treat warnings as errors
      --json                Report as JSON
  -q, --quiet               Print only results and errors
      --fix                 Make repairs that do not change the meaning of anything, after showing
                            them
  -v, --verbose             Print more details
  -y, --yes                 With `--fix`, repair without asking
      --dry-run             Show the repairs without making them
      --explain-defaults    Show where the name, title, version and other defaults of each entry
                            come from
      --run-tests           Run the tests of the project, and name what sandboxes allow and no test
                            uses
      --inspector           Show the command that checks the schemas with the official inspector,
                            and offer to run it
  -h, --help                Print help

Examples:
  mcp-bash validate                      the project in this folder
  mcp-bash validate --strict --json      for CI: exit code 1 also for warnings
  mcp-bash validate --fix --dry-run      what could be repaired
  mcp-bash validate --run-tests          sandboxes that are wider than what the tests use

Exit codes: 0 all checks passed, 1 errors were found, 2 there is no project (docs/validate.md)
";
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout)), (Some(0), expected));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let project = rich();
    let script = format!("{} validate | head -n 0; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_mcp-bash"));
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert_eq!((&*output.stdout, &*output.stderr), (&b"0\n"[..], &b""[..]));
}
