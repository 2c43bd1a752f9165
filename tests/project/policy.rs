//! Which tools may run: by allowlist, and by who could have written them.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn call(project: &Project, environment: &[(&str, &str)]) -> Value {
    let mut server = Server::ready_with(project.root(), environment, "2025-11-25");
    server.call(1, "hi");
    server.receive()
}

#[test]
fn without_a_list_every_tool_of_the_project_may_run() {
    let project = Project::with_hi();
    for environment in
        [&[][..], &[("MCPBASH_TOOL_ALLOWLIST", "")], &[("MCPBASH_TOOL_ALLOW_DEFAULT", "allow")]]
    {
        assert_eq!(call(&project, environment)["result"]["content"][0]["text"], "hi");
    }
}

// Shows: tools-access
#[test]
fn only_listed_tools_run_and_the_refusal_names_the_setting() {
    let project = Project::with_hi();
    for list in ["hi", "other,hi", "other hi", "*", "all"] {
        let listed = [("MCPBASH_TOOL_ALLOWLIST", list), ("MCPBASH_TOOL_ALLOW_DEFAULT", "deny")];
        assert!(call(&project, &listed[..1])["result"].is_object(), "{list}");
        assert!(call(&project, &listed)["result"].is_object(), "{list}");
    }
    let cases = [
        (&[("MCPBASH_TOOL_ALLOWLIST", "other")][..], "add `hi` there"),
        (&[("MCPBASH_TOOL_ALLOW_DEFAULT", "deny")], "add `hi` to MCPBASH_TOOL_ALLOWLIST"),
        (&[("MCPBASH_TOOL_ALLOW_DEFAULT", "perhaps")], "MCPBASH_TOOL_ALLOWLIST"),
    ];
    for (environment, remedy) in cases {
        let answer = call(&project, environment);
        assert_eq!(code(&answer), -32602);
        assert!(answer["error"]["message"].as_str().unwrap().contains(remedy), "{answer}");
    }
}

#[test]
fn group_or_world_writable_scripts_never_run() {
    let project = Project::with_hi();
    let script = project.path("tools/hi/tool.sh");
    for mode in [0o775, 0o757, 0o777] {
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(mode)).unwrap();
        let answer = call(&project, &[]);
        assert_eq!(code(&answer), -32602, "{mode:o}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("chmod go-w"), "{answer}");
    }
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(call(&project, &[])["result"].is_object());
    // A user who can write to the folder can replace the script.
    std::fs::set_permissions(project.path("tools/hi"), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(code(&call(&project, &[])), -32602);
}

#[test]
fn a_link_is_checked_at_its_target() {
    let project = Project::with_hi().script("shared/real.sh", "#!/bin/sh\necho linked\n");
    std::fs::remove_file(project.path("tools/hi/tool.sh")).unwrap();
    std::os::unix::fs::symlink(project.path("shared/real.sh"), project.path("tools/hi/tool.sh")).unwrap();
    assert_eq!(call(&project, &[])["result"]["content"][0]["text"], "linked");
    std::fs::set_permissions(project.path("shared/real.sh"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let answer = call(&project, &[]);
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
}

fn guarded(policy: &str) -> Project {
    Project::with_hi().file("server.d/policy.sh", policy)
}

#[test]
fn the_policy_of_the_project_decides_by_name_metadata_and_environment() {
    let project = guarded(
        r#"mcp_tools_policy_check() {
    echo "chatter on standard output"
    case "$2" in *'"path":"hi/tool.sh"'*) ;; *) return 1 ;; esac
    if [ "${READ_ONLY:-0}" = 1 ] && [[ "$1" != get* ]]; then
        mcp_tools_error -32600 "Read-only mode: $1 disabled"
        return 1
    fi
    [ "${SILENT:-0}" = 0 ]
}
"#,
    );
    assert_eq!(call(&project, &[])["result"]["content"][0]["text"], "hi");
    let refused = call(&project, &[("READ_ONLY", "1")]);
    assert_eq!(refused["error"], json!({ "code": -32600, "message": "Read-only mode: hi disabled" }));
    let refused = call(&project, &[("SILENT", "1")]);
    assert_eq!(code(&refused), -32602);
    assert!(refused["error"]["message"].as_str().unwrap().contains("policy.sh says no"), "{refused}");
}

#[test]
fn a_refusal_is_one_warning_for_the_operator_without_arguments() {
    let project = guarded("mcp_tools_policy_check() { mcp_tools_error -32050 $'not\nnow'; return 1; }");
    for (environment, code, message) in [
        (&[][..], -32050, "server.d/policy.sh refuses it"),
        (&[("MCPBASH_TOOL_ALLOWLIST", "other")], -32602, "MCPBASH_TOOL_ALLOWLIST"),
    ] {
        let mut server = Server::ready_with(project.root(), environment, "2025-11-25");
        let refused = server.ask(1, "tools/call", &json!({ "name": "hi", "arguments": { "key": "s3cr3t" } }));
        assert_eq!(refused["error"]["code"], code, "{refused}");
        let log = server.finish();
        let told: Vec<&str> = log.lines().filter(|line| line.contains("a call was refused")).collect();
        assert_eq!(told.len(), 1, "{log}");
        for part in ["warning", "hi", &code.to_string(), message] {
            assert!(told[0].contains(part), "{part} in {}", told[0]);
        }
        assert!(!log.contains("s3cr3t") && !log.contains("now"), "{log}");
    }
}

#[test]
fn a_refusal_carries_its_data() {
    for (given, data) in [
        (r#"'{"retry": false, "of": [1.10]}'"#, json!({ "retry": false, "of": [1.10] })),
        ("'call the office'", json!("call the office")),
        ("''", json!(null)),
    ] {
        let policy =
            format!("mcp_tools_policy_check() {{ mcp_tools_error -32001 $'not\nnow' {given}; return 1; }}");
        let refused = call(&guarded(&policy), &[]);
        assert_eq!(refused["error"]["message"], "not\nnow", "{refused}");
        assert_eq!(refused["error"]["data"], data, "{refused}");
    }
}

#[test]
fn a_policy_that_is_broken_or_not_trusted_lets_nothing_run() {
    for broken in ["exit 0", "syntax error (", "return 7"] {
        let answer = call(&guarded(broken), &[]);
        assert_eq!(code(&answer), -32602, "{broken}");
        assert!(!answer["error"]["message"].as_str().unwrap().contains("failed: ;"), "{answer}");
    }
    let silent = call(&guarded("mcp_tools_policy_check() { kill -9 $$; }"), &[]);
    let told = silent["error"]["message"].as_str().unwrap();
    assert!(told.contains("server.d/policy.sh failed: it wrote nothing on standard error"), "{told}");
    let project = guarded("mcp_tools_policy_check() { return 0; }");
    assert!(call(&project, &[])["result"].is_object());
    std::fs::set_permissions(project.path("server.d/policy.sh"), std::fs::Permissions::from_mode(0o666))
        .unwrap();
    let answer = call(&project, &[]);
    assert!(answer["error"]["message"].as_str().unwrap().contains("not trusted"), "{answer}");
    std::fs::set_permissions(project.path("server.d/policy.sh"), std::fs::Permissions::from_mode(0o644))
        .unwrap();
    std::fs::set_permissions(project.path("server.d"), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(code(&call(&project, &[])), -32602);
    std::fs::set_permissions(project.path("server.d"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = project.path("server.d/policy.sh");
    std::fs::rename(&file, project.path("policy.sh")).unwrap();
    std::os::unix::fs::symlink(project.path("policy.sh"), &file).unwrap();
    assert!(call(&project, &[])["error"]["message"].as_str().unwrap().contains("is a link"));
}

#[test]
fn a_policy_whose_function_is_misspelt_or_missing_lets_nothing_run() {
    let inherited = [("BASH_FUNC_mcp_tools_policy_check%%", "() { return 0; }")];
    for policy in ["mcp_tools_policy_chek() { return 1; }\n", "", "# mcp_tools_policy_check\n"] {
        for environment in [&[][..], &inherited] {
            let answer = call(&guarded(policy), environment);
            assert_eq!(code(&answer), -32602, "{policy}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("server.d/policy.sh does not define"), "{message}");
            assert!(message.contains("`mcp_tools_policy_check`"), "{message}");
        }
    }
}

#[test]
fn a_policy_can_read_the_metadata_of_a_tool() {
    let project = Project::new()
        .script("tools/slow/tool.sh", "#!/bin/sh\necho slow\n")
        .file("tools/slow/tool.meta.json", r#"{"name": "slow", "description": "d", "timeoutSecs": 20}"#)
        .tool("quick", "#!/bin/sh\necho quick\n")
        .file(
            "server.d/policy.sh",
            r#"mcp_tools_policy_check() {
                 local seconds broken
                 seconds=$(mcp_json_extract_optional "$2" -r '.timeoutSecs // 0' 0)
                 broken=$(mcp_json_extract_optional 'no JSON' -r . default)
                 [ "$seconds" -le 10 ] && [ "$broken" = default ] && return 0
                 mcp_tools_error -32602 "$1 may run for $seconds seconds"
                 return 1
               }"#,
        );
    let mut server = Server::ready(project.root());
    server.call(1, "quick");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "quick");
    server.call(2, "slow");
    let refused = server.receive();
    assert_eq!(
        (code(&refused), &refused["error"]["message"]),
        (-32602, &json!("slow may run for 20 seconds"))
    );
}
