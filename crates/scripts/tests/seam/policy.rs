//! Tool policy: whether a tool may run.

use crate::project::{Project, said};
use mcp_bash_scripts::{AllowedTool, Block, CalledBy, ScriptError};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const TOOL: (&str, &str) = ("tools/t/tool.sh", "#!/bin/sh\n");

async fn judged(project: &Project) -> Result<AllowedTool<'_>, ScriptError> {
    let (tool, budget) = (project.tool("t"), project.scripts.budget());
    project
        .scripts
        .allow(tool, &project.paths, CalledBy::named("alice"), budget, std::future::pending())
        .await
}

/// The decision about the tool in a project with this policy.
async fn asked(policy: &str) -> Result<(), ScriptError> {
    let project = Project::new(&[TOOL, ("server.d/policy.sh", policy)]);
    judged(&project).await.map(drop)
}

#[tokio::test]
async fn a_policy_that_says_yes_lets_a_tool_run() {
    asked("mcp_tools_policy_check() { [ \"$1\" = t ]; }").await.unwrap();
    asked("echo noise; mcp_tools_policy_check() { echo noise; }").await.unwrap();
}

#[tokio::test]
async fn a_policy_refuses_with_its_own_code_and_words() {
    let refused = async |how: &str| {
        let policy = format!("mcp_tools_policy_check() {{ mcp_tools_error {how}; return 1; }}");
        asked(&policy).await.unwrap_err()
    };
    let ScriptError::Refused { code, message, data } =
        refused("-32000 'not on Sundays' '{\"day\": 7}'").await
    else {
        panic!()
    };
    assert_eq!((code, &*message, data.as_deref()), (Some(-32000), "not on Sundays", Some(r#"{"day": 7}"#)));
    let ScriptError::Refused { code, message, .. } = refused("many 'not with that code'").await else {
        panic!()
    };
    assert_eq!((code, &*message), (None, "not with that code"));
    let silent = refused("-32000 ''").await;
    assert!(matches!(silent, ScriptError::Blocked { why: Block::PolicySaysNo, .. }));
    assert_eq!(silent.to_string(), "Tool 't' blocked by policy: server.d/policy.sh says no");
}

#[tokio::test]
async fn a_policy_without_the_function_allows_nothing() {
    for policy in ["", "# soon", "mcp_tool_policy_check() { return 0; }", "mcp_tools_policy_check=yes"] {
        let problem = asked(policy).await.unwrap_err();
        assert!(matches!(problem, ScriptError::Blocked { why: Block::PolicyUndefined, .. }), "{problem}");
        let said = problem.to_string();
        assert!(said.contains("server.d/policy.sh") && said.contains("`mcp_tools_policy_check`"), "{said}");
    }
}

#[tokio::test]
async fn a_policy_that_does_not_come_to_an_answer_has_not_said_yes() {
    for policy in
        ["exit 0", "mcp_tools_policy_check() { exit 0; }", "printf allowed; exit 0", "kill -9 $$", "("]
    {
        let problem = asked(policy).await.unwrap_err();
        let ScriptError::Blocked { why: Block::PolicyFailed(_), .. } = problem else {
            panic!("{policy}: {problem}")
        };
    }
    assert_eq!(
        said(asked("echo trouble >&2; exit 7").await),
        "Tool 't' blocked by policy: server.d/policy.sh failed: trouble"
    );
}

#[tokio::test]
async fn a_policy_is_not_asked_for_longer_than_its_caller_waits() {
    let project = Project::new(&[TOOL, ("server.d/policy.sh", "sleep 600")]);
    let (tool, budget) = (project.tool("t"), project.scripts.budget());
    let cancelled = project
        .scripts
        .allow(tool, &project.paths, CalledBy::named("alice"), budget, std::future::ready(()))
        .await;
    assert!(said(cancelled).contains("server.d/policy.sh failed"));
}

#[tokio::test]
async fn a_setting_blocks_before_anything_is_asked() {
    let policy = ("server.d/policy.sh", "touch asked");
    let project = Project::with_settings(&[TOOL, policy], &[("MCPBASH_TOOL_ALLOWLIST", "other")]);
    let problem = said(judged(&project).await);
    assert_eq!(
        problem,
        "Tool 't' blocked by policy: it is not in MCPBASH_TOOL_ALLOWLIST; add `t` there to allow it"
    );
    assert!(!project.path("asked").exists());
}

#[tokio::test]
async fn group_or_world_writable_scripts_and_policies_are_named_and_not_run() {
    let open_to_all = |project: &Project, file: &str| {
        fs::set_permissions(project.path(file), fs::Permissions::from_mode(0o777)).unwrap();
        format!(
            "{} is writable by its group or by everyone (mode 0777); run `chmod go-w` on it (`mcp-bash validate --fix` does it in a whole project)",
            project.path(file).display()
        )
    };
    let project = Project::new(&[TOOL]);
    let why = open_to_all(&project, "tools/t/tool.sh");
    assert_eq!(said(judged(&project).await), format!("Tool 't' blocked by policy: {why}"));
    let project = Project::new(&[TOOL, ("server.d/policy.sh", "")]);
    let why = open_to_all(&project, "server.d/policy.sh");
    assert_eq!(
        said(judged(&project).await),
        format!("Tool 't' blocked by policy: server.d/policy.sh is not trusted: {why}")
    );
}
