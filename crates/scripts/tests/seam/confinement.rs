//! Confinement: the value in an entry of the catalog is the one that its process starts under, whatever runs it.

use crate::project::Project;
use mcp_bash_project::Tool;
use mcp_bash_sandbox::Declaration;

/// A hard limit of open files that no system has by itself.
const LIMIT: &str = "613";

/// The same tool, confined.
fn confined(tool: &Tool) -> Tool {
    let mut tool = tool.clone();
    tool.options.sandbox = Some(Declaration::parse(r#"{"openFiles":613}"#).unwrap());
    tool
}

/// What a call of that tool returns.
async fn returned(project: &Project, tool: &Tool) -> String {
    let outcome = project.run(project.prepare_tool(tool, "{}").await).await;
    outcome.unwrap_or_else(|error| panic!("{error}")).text().into_owned()
}

#[tokio::test]
async fn a_process_starts_under_the_confinement_of_its_tool() {
    let project = Project::with_tool("ulimit -Hn");
    assert_eq!(returned(&project, &confined(project.tool("t"))).await.trim(), LIMIT);
    assert_ne!(returned(&project, project.tool("t")).await.trim(), LIMIT, "the next call is not confined");
}

/// A worker that answers each call with its limit and its process number.
const WORKER: &str = r#"#!/bin/sh
echo '{"ready":{"protocol":1}}' >&3
while read -r line; do
    call=$(printf '%s' "$line" | sed -n 's/.*"call":\([0-9]*\).*/\1/p')
    [ -n "$call" ] || continue
    echo "{\"call\":$call,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$(ulimit -Hn) $$\"}]}}" >&3
done
"#;

#[tokio::test]
async fn a_worker_starts_under_the_confinement_of_its_tool_and_serves_no_call_with_another() {
    let metadata = r#"{"name":"t","description":"d","worker":{"processes":1}}"#;
    let project = Project::new(&[("tools/t/tool.sh", WORKER), ("tools/t/tool.meta.json", metadata)]);
    let (free, confined) = (project.tool("t"), confined(project.tool("t")));
    let before = returned(&project, free).await;
    let inside = returned(&project, &confined).await;
    assert!(inside.contains(&format!("\"{LIMIT} ")), "{inside}");
    assert!(!before.contains(&format!("\"{LIMIT} ")), "{before}");
    assert_eq!(returned(&project, free).await, before, "the first worker stays, for calls like the first");
    assert_eq!(returned(&project, &confined).await, inside);
}

/// The worker that listed the functions of a file was started without the confinement, and waits for a first call.
#[tokio::test]
async fn a_spare_worker_that_is_not_confined_serves_no_call_that_is() {
    let functions = "import resource\nfrom mcp_bash import tool\n\n\n@tool\ndef limit() -> str:\n    \"\"\"The limit.\"\"\"\n    \
                     return str(resource.getrlimit(resource.RLIMIT_NOFILE)[1])\n";
    let project = Project::new(&[("tools/functions.py", functions)]);
    let answer = returned(&project, &confined(project.tool("limit"))).await;
    assert!(answer.contains(&format!("\"{LIMIT}\"")), "{answer}");
}
