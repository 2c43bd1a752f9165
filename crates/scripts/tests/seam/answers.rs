//! Scripts that are not tools: prompts, completions, and executables that read resources.

use crate::project::{Project, said, variable};
use mcp_bash_scripts::{
    CalledBy, CompletionCall, Outcome, PromptCall, ResourceRead, ScriptError, ScriptRoots, Unread,
};
use mcp_bash_secrets::Needs;
use mcp_bash_uri::{Value, Values};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

async fn prompted(project: &Project, asked: Option<Duration>) -> Result<Outcome, ScriptError> {
    let prompt =
        project.catalog.prompts.get("p").unwrap_or_else(|| panic!("{:?}", project.catalog.diagnostics));
    let (paths, budget) = (&project.paths, project.scripts.budget());
    let call = PromptCall {
        roots: &ScriptRoots::new(&[]),
        opened_roots: &[],
        caller: CalledBy::named("alice"),
        prompt,
        paths,
        arguments: r#"{"x":"1"}"#,
        asked,
        budget,
        trace: &project.trace,
        may_ask: false,
        may_elicit: false,
    };
    project.scripts.prompt(call, std::future::pending(), drop).await
}

fn prompt(script: &str) -> Project {
    Project::new(&[("prompts/p.sh", &format!("#!/bin/sh\n# mcp: {{}}\n{script}\n"))])
}

#[tokio::test]
async fn a_prompt_receives_its_arguments_and_returns_its_output() {
    let project = prompt("cat; echo; env");
    let printed = prompted(&project, None).await.unwrap().into_text();
    assert!(printed.starts_with("{\"x\":\"1\"}\n"), "{printed}");
    assert_eq!(variable(&printed, "MCP_PROMPT_NAME"), Some("p"));
    assert_eq!(variable(&printed, "MCP_PROMPT_REL_PATH"), Some("p.sh"));
    assert_eq!(variable(&printed, "MCP_PROMPT_ARGS_JSON"), Some(r#"{"x":"1"}"#));
    assert!(variable(&printed, "MCP_SDK").is_some());
}

#[tokio::test]
async fn a_prompt_that_ends_otherwise_than_well_says_how() {
    let failure = async |script: &str| said(prompted(&prompt(script), Some(Duration::from_secs(1))).await);
    assert_eq!(
        failure("echo out; echo err >&2; exit 3").await,
        "Prompt 'p' failed (exit 3) and printed: err"
    );
    assert_eq!(failure("exit 3").await, "Prompt 'p' failed (exit 3) and printed: nothing");
    assert_eq!(failure("echo out; kill -9 $$").await, "Prompt 'p' was ended by SIGKILL (9) and printed: out");
    assert_eq!(
        failure("exec sleep 600").await,
        "Prompt 'p' timed out after 1 s (`timeoutSecs` in the request or in its metadata, or MCPBASH_DEFAULT_TOOL_TIMEOUT, sets the limit) and printed: nothing"
    );
    assert_eq!(
        failure("yes").await,
        "Prompt 'p' printed more than 10485760 bytes; MCPBASH_MAX_PROMPT_BYTES sets the limit"
    );
}

#[tokio::test]
async fn a_prompt_that_others_could_have_written_is_not_run() {
    let project = prompt("touch ran");
    fs::set_permissions(project.path("prompts/p.sh"), fs::Permissions::from_mode(0o777)).unwrap();
    let problem = said(prompted(&project, None).await);
    assert!(problem.starts_with("Prompt 'p' is not run: ") && problem.contains("chmod go-w"), "{problem}");
    assert!(!project.path("ran").exists());
}

#[tokio::test]
async fn a_completion_receives_its_request() {
    let project = Project::new(&[("completions/c.sh", "#!/bin/sh\ncat; echo; env\n")]);
    let call = CompletionCall {
        roots: &ScriptRoots::new(&[]),
        opened_roots: &[],
        sandbox: None,
        secrets: &Needs::default(),
        caller: CalledBy::named("alice"),
        name: "subject",
        script: &project.path("completions/c.sh"),
        beside: None,
        paths: &project.paths,
        arguments: r#"{"query":"x"}"#,
        hash: "abc",
        limit: 5,
        offset: 10,
        cursor: "there",
        asked: None,
        author: None,
        budget: project.scripts.budget(),
    };
    let printed = project.scripts.complete(call, std::future::pending()).await.unwrap().into_text();
    assert!(printed.starts_with("{\"query\":\"x\"}\n"), "{printed}");
    for (name, value) in [
        ("MCP_COMPLETION_NAME", "subject"),
        ("MCP_COMPLETION_LIMIT", "5"),
        ("MCP_COMPLETION_OFFSET", "10"),
        ("MCP_COMPLETION_ARGS_HASH", "abc"),
        ("MCP_COMPLETION_CURSOR", "there"),
        ("MCP_COMPLETION_ARGS_JSON", r#"{"query":"x"}"#),
    ] {
        assert_eq!(variable(&printed, name), Some(value), "{name}");
    }
    assert_eq!(variable(&printed, "MCP_PROMPT_PATH"), None);
}

async fn read(script: &str, variables: &Values) -> Result<Outcome, ScriptError> {
    let project = Project::new(&[("providers/x.sh", script)]);
    let read = ResourceRead {
        sandbox: None,
        secrets: &Needs::default(),
        asked: None,
        caller: CalledBy::named("alice"),
        script: &project.path("providers/x.sh"),
        paths: &project.paths,
        uri: "x://a/b",
        variables,
        budget: project.scripts.budget(),
    };
    project.scripts.read_resource(read).await
}

#[tokio::test]
async fn a_provider_receives_the_uri_and_the_variables_of_its_template() {
    let values = Values::from([
        ("id".to_owned(), Value::Text("7".to_owned())),
        ("many".to_owned(), Value::List(vec!["a".to_owned(), "b".to_owned()])),
        ("odd-name".to_owned(), Value::Text("x".to_owned())),
    ]);
    // Not executable and without a `#!` line: bash runs it.
    let printed = read("echo \"$1\"; env", &values).await.unwrap().into_text();
    assert!(printed.starts_with("x://a/b\n"), "{printed}");
    assert_eq!(variable(&printed, "MCP_RESOURCE_URI"), Some("x://a/b"));
    assert_eq!(variable(&printed, "MCP_RESOURCE_VAR_id"), Some("7"));
    assert_eq!(variable(&printed, "MCP_RESOURCE_VAR_many"), Some("a,b"));
    let all: serde_json::Value =
        serde_json::from_str(variable(&printed, "MCP_RESOURCE_VARS_JSON").unwrap()).unwrap();
    assert_eq!(all, serde_json::json!({ "id": "7", "many": ["a", "b"], "odd-name": "x" }));
    assert!(variable(&printed, "MCPBASH_HOME").is_some(), "it can call our own providers");
    assert_eq!(variable(&printed, "MCP_TOOL_NAME"), None, "it is no tool");
}

#[tokio::test]
async fn the_exit_codes_of_a_provider_have_meanings() {
    let unread = async |script: &str| match read(script, &Values::new()).await {
        Err(ScriptError::Unread(unread)) => unread,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{script} should have failed"),
    };
    assert!(matches!(unread("exit 3").await, Unread::Missing(None)));
    assert!(matches!(unread("echo gone >&2; exit 3").await, Unread::Missing(Some(why)) if why == "gone"));
    assert!(matches!(unread("exit 4").await, Unread::Invalid(why) if why.contains("does not understand")));
    assert!(matches!(unread("echo odd >&2; exit 4").await, Unread::Invalid(why) if why == "odd"));
    for (script, problem) in [
        ("exit 2", "outside the folders"),
        ("exit 5", "could not fetch"),
        ("exit 6", "larger than its provider allows"),
        ("exit 9", "failed (exit 9)"),
        ("kill -9 $$", "was ended by SIGKILL (9)"),
        ("echo because >&2; exit 9", "because"),
    ] {
        assert!(matches!(unread(script).await, Unread::Failed(why) if why.contains(problem)), "{script}");
    }
    assert!(matches!(unread("yes").await, Unread::OutputTooLarge { limit: 10_485_760, .. }));
}

#[tokio::test]
async fn a_variable_that_no_process_can_be_given_is_refused_before_anything_runs() {
    let values = Values::from([("id".to_owned(), Value::Text("a\0b".to_owned()))]);
    assert_eq!(said(read("true", &values).await), "`id` holds a NUL character");
}
