//! `--health` and `--ready`, also without the dashes: 0 ready, 1 unhealthy, 2 misconfigured.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::path::Path;

fn health(arguments: &[&str], environment: &[(&str, &str)], folder: &Path) -> (Option<i32>, Value) {
    let mut command = Server::command();
    command.args(arguments).envs(environment.iter().copied()).current_dir(folder);
    let output = command.output().expect("the binary runs");
    let report = serde_json::from_slice(&output.stdout).expect("a JSON report");
    (output.status.code(), report)
}

#[test]
fn a_valid_project_is_ready() {
    let project = Project::with_hi();
    for word in ["--health", "--ready", "health", "ready"] {
        let (status, report) = health(&[word], &[], project.root());
        assert_eq!(status, Some(0));
        assert_eq!(
            (&report["status"], &report["counts"]["tools"], &report["problems"]),
            (&json!("ok"), &json!(1), &json!([]))
        );
        // The fields that users of the shell framework read.
        for (key, value) in
            [("mode", "full"), ("jsonTool", "jq"), ("tools", "ok"), ("resources", "ok"), ("prompts", "ok")]
        {
            assert_eq!(report[key], value, "{key}");
        }
        assert_eq!(report["projectChecks"], "ok");
    }
}

#[test]
fn half_a_project_is_served_and_the_rest_makes_it_unhealthy() {
    let project = Project::with_hi().file("tools/broken/tool.meta.json", "{ nonsense");
    for word in ["health", "--health", "ready", "--ready"] {
        let (status, report) = health(&[word], &[], project.root());
        assert_eq!((status, &report["status"]), (Some(1), &json!("unhealthy")), "{word}");
        assert_eq!((&report["tools"], &report["counts"]["tools"]), (&json!("ok"), &json!(1)), "{report}");
    }
    let (_, report) = health(&["--health"], &[], project.root());
    assert!(report["problems"][0]["file"].as_str().unwrap().ends_with("broken/tool.meta.json"), "{report}");
}

#[test]
fn a_problem_in_a_function_file_has_its_line() {
    let project = Project::with_hi()
        .file("tools/typed.py", "from mcp_bash import tool\n\n@tool\ndef typed(a):\n    return a\n")
        .file("tools/syntax.mjs", "import { tool } from 'mcp-bash'\nexport const f = tool('x', {}, () => {\n")
        .file(
            "tools/loads.py",
            "from mcp_bash import tool\nimport _broken\n@tool\ndef f() -> int: return 1\n",
        )
        .file("tools/_broken.py", "def f(:\n");
    let (_, report) = health(&["--health"], &[], project.root());
    let told = |name: &str| {
        let problems = report["problems"].as_array().unwrap();
        problems.iter().find(|problem| problem["file"].as_str().unwrap().ends_with(name)).unwrap()
    };
    assert_eq!((&told("typed.py")["line"], &told("syntax.mjs")["line"]), (&json!(3), &json!(3)), "{report}");
    let problem = told("typed.py")["problem"].as_str().unwrap();
    assert!(problem.starts_with("is skipped: typed(), parameter `a`"), "{problem}");
    // The line number of another file is not used for this one.
    let loads = told("loads.py");
    assert!(
        loads["line"].is_null() && loads["problem"].as_str().unwrap().contains("_broken.py:1"),
        "{loads}"
    );
}

#[test]
fn a_project_with_no_valid_entry_is_unhealthy() {
    let project = Project::new().file("tools/broken/tool.meta.json", "{ nonsense");
    let (status, report) = health(&["--health"], &[], project.root());
    assert_eq!((status, &report["status"]), (Some(1), &json!("unhealthy")));
}

#[test]
fn a_wrong_folder_a_wrong_setting_and_no_project_are_misconfigurations() {
    let project = Project::with_hi();
    let empty = tempfile::tempdir().unwrap();
    let missing = ["--health", "--project-root", "/no/such"];
    let plain = ["--health"];
    let deep = [("MCPBASH_MAX_JSON_DEPTH", "deep")];
    let short = [("MCPBASH_REMOTE_TOKEN", "short")];
    let cases = [
        (&missing[..], &[][..], project.root(), "/no/such"),
        (&plain, &deep, project.root(), "MCPBASH_MAX_JSON_DEPTH"),
        (&plain, &short, project.root(), "MCPBASH_REMOTE_TOKEN"),
        (&plain, &[], empty.path(), "no project found"),
    ];
    for (arguments, environment, folder, word) in cases {
        let (status, report) = health(arguments, environment, folder);
        assert_eq!((status, &report["status"]), (Some(2), &json!("misconfigured")));
        assert!(report["problems"][0]["problem"].as_str().unwrap().contains(word), "{report}");
    }
}

#[test]
fn a_project_can_have_its_own_checks() {
    let checked = |script: &str| {
        let project = Project::with_hi().file("server.d/health-checks.sh", script);
        let output =
            Server::command().args(["--health", "--project-root"]).arg(project.root()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report, String::from_utf8(output.stderr).unwrap())
    };
    let (code, report, said) = checked("mcp_health_check_command sh 'A shell'\necho note\n");
    assert_eq!((code, &report["projectChecks"]), (Some(0), &json!("ok")));
    assert!(said.contains("✓ A shell") && said.contains("note"), "{said}");
    let (code, report, said) = checked("mcp_health_check_env NO_SUCH_THING || exit 1\n");
    assert_eq!(
        (code, &report["status"], &report["projectChecks"]),
        (Some(1), &json!("unhealthy"), &json!("failed"))
    );
    assert!(said.contains("✗ Required env var: NO_SUCH_THING (not set)"), "{said}");
}

#[test]
fn a_report_that_takes_too_long_is_unhealthy() {
    let project = Project::with_hi().gate().file("server.d/health-checks.sh", "read _ <gate\n");
    let arguments = ["--health", "--timeout", "1", "--project-root", project.root().to_str().unwrap()];
    let (status, report) = health(&arguments, &[], project.root());
    assert_eq!((status, &report["status"]), (Some(1), &json!("unhealthy")));
    let problem = report["problems"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("did not end within 1 s"), "{report}");
    let unhurried = ["--health", "--timeout", "60"];
    assert_eq!(health(&unhurried, &[], Project::with_hi().root()).0, Some(0));
}

#[test]
fn a_project_in_which_every_tool_would_fail_is_unhealthy_and_one_with_warnings_is_not() {
    let broken = Project::new().tool("x", "#!/no/such/interpreter\n");
    let (status, report) = health(&["--health"], &[], broken.root());
    assert_eq!(
        (status, &report["tools"], &report["counts"]["tools"]),
        (Some(1), &json!("failed"), &json!(1))
    );
    let odd = Project::new().file("prompts/p.txt", "Hello").file("prompts/p.meta.json", r#"{"tilte": "P"}"#);
    let (status, report) = health(&["--health"], &[], odd.root());
    assert_eq!((status, &report["counts"]["prompts"]), (Some(0), &json!(1)));
    assert_eq!(report["problems"][0]["severity"], "warning");
}

/// The output on a terminal.
#[cfg(target_os = "linux")]
fn on_a_terminal(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut command = Server::command();
    command.args(arguments).env_remove("NO_COLOR").env("TERM", "xterm").envs(environment.iter().copied());
    command.current_dir(folder).stdout(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    // Reading a terminal whose other side is closed is an error.
    let _ = std::fs::File::from(controller).read_to_end(&mut shown);
    child.wait().unwrap();
    String::from_utf8(shown).unwrap().replace('\r', "")
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_gets_text_and_colours_unless_they_are_refused() {
    let project = Project::with_hi().file("tools/x.py", "print(1)\n");
    let plain = on_a_terminal(project.root(), &["--health"], &[("NO_COLOR", "1")]);
    let root = project.root().display();
    let expected = format!(
        "tools/x.py\n  warning: is not served: it is neither executable nor starts with `#!`\n    → add the first line \
         `#!/usr/bin/env python3` and run `chmod +x {root}/tools/x.py`, or move it out of the tools if it is none\n\n\
         scripts run without a sandbox\n    → `\"sandbox\": \"on\"` in server.d/server.meta.json would confine 1 tool: no network, \
         and writes only to a temporary folder; to try it, run: MCPBASH_SANDBOX=on mcp-bash test\n\
         {root}: 1 tool, 0 resources, 0 prompts: ready (0 errors, 1 warning)\n"
    );
    assert_eq!(plain, expected);
    let coloured = on_a_terminal(project.root(), &["--health"], &[]);
    assert!(coloured.contains("\u{1b}[33mwarning\u{1b}[0m"), "{coloured}");
    let dumb = on_a_terminal(project.root(), &["--health"], &[("TERM", "dumb")]);
    assert_eq!(dumb, expected);
    let json = on_a_terminal(project.root(), &["--health", "--json"], &[]);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["status"], "ok");
}

#[test]
fn settings_without_effect_are_named() {
    let project = Project::with_hi();
    let moot =
        [("MCPBASH_LOCK_ROOT", "/tmp/locks"), ("MCPBASH_LOG_JSON_TOOL", "quiet"), ("MCPBASH_DEBUG", "")];
    let (status, report) = health(&["--health"], &moot, project.root());
    assert_eq!((status, &report["status"]), (Some(0), &json!("ok")));
    let told: Vec<&str> =
        report["problems"].as_array().unwrap().iter().map(|told| told["problem"].as_str().unwrap()).collect();
    assert_eq!(told.len(), 2, "an empty variable is not set: {report}");
    assert_eq!(told[0], "MCPBASH_LOCK_ROOT is set and has no effect: there are no lock files");
    assert!(told[1].starts_with("MCPBASH_LOG_JSON_TOOL is set and has no effect"), "{report}");
    assert_eq!(report["problems"][0]["severity"], "info");
}
