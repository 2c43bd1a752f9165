//! `validate --run-tests`: what sandboxes allow and no test uses.

// Elsewhere system calls cannot be watched.
#![cfg(all(target_os = "linux", not(mcp_bash_portable)))]

use super::{run, validate};
use crate::harness::Project;
use std::net::TcpListener;

const READER: &str = "#!/bin/sh\ncat \"$1\"\nif [ -n \"$2\" ]; then echo x >\"$2\"; fi\n";

fn reader(sandbox: &str, case: &str) -> Project {
    let metadata = format!(
        r#"{{"name": "reader", "description": "Reads a file", "annotations": {{"readOnlyHint": true}}, "argv": ["{{from}}", ["{{to}}"]],
             "inputSchema": {{"type": "object", "properties": {{"from": {{"type": "string"}}, "to": {{"type": "string"}}}}, "required": ["from"]}},
             "sandbox": {sandbox}}}"#
    );
    Project::new()
        .file("data/day/in.txt", "hello\n")
        .file("data/night/in.txt", "hush\n")
        .file("out/logs/.keep", "")
        .script("tools/reader/tool.sh", READER)
        .file("tools/reader/tool.meta.json", &metadata)
        .file("tools/reader/tests/cases.yaml", case)
}

const BOTH: &str = "
- name: reads by day
  arguments: { from: data/day/in.txt, to: out/logs/x }
  expect: { text: \"hello\" }
- name: reads by night
  arguments: { from: data/night/in.txt, to: out/logs/y }
  expect: { text: \"hush\" }
";

/// The lines about sandboxes.
fn excess(project: &Project, expected_code: i32) -> Vec<String> {
    let (code, said) = validate(project, &["--run-tests"]);
    assert_eq!(code, expected_code, "{said}");
    let lines = said.lines().filter(|line| line.contains("its sandbox "));
    lines.map(|line| line.split_once(" - ").unwrap().1.to_owned()).collect()
}

#[test]
fn places_that_no_test_uses_and_folders_of_which_tests_use_a_part_are_named() {
    let wide =
        r#"{"read": ["project", "/etc/hosts", "/var"], "write": ["tmp", "project/out", "project/data"]}"#;
    assert_eq!(
        excess(&reader(wide, BOTH), 0),
        [
            "tool 'reader': its sandbox allows reading `project`, of which the tests read only `project/data`",
            "tool 'reader': its sandbox allows reading `/etc/hosts`, which no test did",
            "tool 'reader': its sandbox allows reading `/var`, which no test did",
            "tool 'reader': its sandbox allows writing to `project/out`, of which the tests wrote only to `project/out/logs`",
            "tool 'reader': its sandbox allows writing to `project/data`, which no test did",
        ]
    );
    let narrow = r#"{"read": ["project/data"], "write": ["tmp", "project/out/logs"]}"#;
    assert_eq!(excess(&reader(narrow, BOTH), 0), [""; 0]);
    // Without the flag nothing is run, and nothing of this is said.
    let project = reader(wide, BOTH);
    let (_, said) = validate(&project, &[]);
    assert!(!said.contains("its sandbox"), "{said}");
    assert!(!project.path("out/logs/x").exists());
}

#[test]
fn tools_without_tests_or_without_a_sandbox_are_not_judged_and_failing_tests_are_told() {
    let wide = r#"{"read": ["project", "/var"]}"#;
    assert_eq!(excess(&reader(wide, "[]\n"), 0), [""; 0]);
    assert_eq!(excess(&reader("\"off\"", BOTH), 0), [""; 0]);
    let failing = "- name: reads\n  arguments: { from: data/day/in.txt }\n  expect: { text: \"bye\" }\n";
    let (_, said) = validate(&reader(wide, failing), &["--run-tests"]);
    assert!(said.contains("tests of the project fail"), "{said}");
    assert!(said.contains("reading `/var`, which no test did"), "{said}");
    let output = run(reader(wide, "- nonsense\n").root(), &["--run-tests"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("the tests were not run to their end") && said.contains("mcp-bash test"), "{said}");
}

#[test]
fn the_default_of_the_project_is_judged_by_all_tests_together() {
    let project = reader("{\"network\": \"none\"}", BOTH).file(
        "server.d/server.meta.json",
        r#"{"name": "p", "sandbox": {"read": ["project/data", "/var"], "write": ["project/out/logs"]}}"#,
    );
    assert_eq!(excess(&project, 0), ["the default: its sandbox allows reading `/var`, which no test did"]);
}

#[test]
fn networks_and_hosts_that_no_test_connects_to_are_named() {
    // Its queue takes the connections.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connects = |network: &str, argument: &str| {
        Project::new()
            .script("tools/dial/tool.sh", "#!/bin/bash\n[ -z \"$1\" ] || exec 3<>\"/dev/tcp/127.0.0.1/$1\"\necho ok\n")
            .file(
                "tools/dial/tool.meta.json",
                &format!(
                    r#"{{"name": "dial", "description": "Connects", "annotations": {{"readOnlyHint": true}}, "argv": ["{{port}}"],
                         "inputSchema": {{"type": "object", "properties": {{"port": {{"type": "string"}}}}, "required": ["port"]}},
                         "sandbox": {{"network": {network}}}}}"#
                ),
            )
            .file(
                "tools/dial/tests/cases.yaml",
                &format!("- name: dials\n  arguments: {{ port: \"{argument}\" }}\n  expect: {{ text: ok }}\n"),
            )
    };
    let unused = "tool 'dial': its sandbox allows the whole network, which no test used";
    assert_eq!(excess(&connects("\"all\"", ""), 0), [unused]);
    let local = format!(
        "tool 'dial': its sandbox allows the whole network, of which the tests used only `localhost:{port}`"
    );
    assert_eq!(excess(&connects("\"all\"", &port.to_string()), 0), [local]);
    let listed = format!("[\"localhost:{port}\", \"api.example.org:443\"]");
    let host = "tool 'dial': its sandbox allows connecting to `api.example.org:443`, which no test did";
    assert_eq!(excess(&connects(&listed, &port.to_string()), 0), [host]);
}

#[test]
fn functions_are_judged_although_their_process_ends_with_the_server() {
    let project = Project::new()
        .file("data/in.txt", "hello\n")
        .file(
            "tools/reader.py",
            "import pathlib\nfrom mcp_bash import tool\n\n\n@tool(sandbox={\"read\": [\"project/data\", \"/var\"]}, read_only=True)\n\
             def reader() -> str:\n    \"\"\"Reads a file.\"\"\"\n    return pathlib.Path(\"data/in.txt\").read_text()\n",
        )
        .file("tools/tests/reader.yaml", "- name: reads\n  expect: { text: \"hello\" }\n");
    assert_eq!(excess(&project, 0), ["tool 'reader': its sandbox allows reading `/var`, which no test did"]);
}
