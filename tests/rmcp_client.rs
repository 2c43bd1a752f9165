//! The official Rust SDK as a client: a whole session.

use crate::harness::{Project, Server};
use rmcp::model::{CallToolRequestParams, GetPromptRequestParams, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ServiceExt};
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Client {
    progress: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for Client {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(params.progress);
    }
}

#[tokio::test]
async fn rmcp_completes_a_session() {
    let project = Project::with_hi()
        .tool("fails", "#!/bin/sh\necho broken >&2\nexit 2\n")
        .file("prompts/letter.txt", "A {{tone}} letter\n")
        .file(
            "prompts/letter.meta.json",
            r#"{"arguments": {"properties": {"tone": {"enum": ["kind", "stern"]}}}}"#,
        );
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root());
    let transport = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
    let client = Client::default().serve(transport).await.expect("a session");

    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["fails", "hi"]);
    let result = client.call_tool(CallToolRequestParams::new("hi")).await.unwrap();
    assert_eq!(serde_json::to_value(&result.content[0]).unwrap()["text"], "hi");
    let result = client.call_tool(CallToolRequestParams::new("fails")).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    assert!(client.call_tool(CallToolRequestParams::new("no such")).await.is_err());

    let prompts = client.list_all_prompts().await.unwrap();
    assert_eq!(prompts[0].arguments.as_ref().unwrap()[0].name, "tone");
    let mut request = GetPromptRequestParams::new("letter");
    request.arguments = serde_json::from_str(r#"{"tone": "kind"}"#).ok();
    let prompt = client.get_prompt(request).await.unwrap();
    assert_eq!(serde_json::to_value(&prompt.messages[0].content).unwrap()["text"], "A kind letter");
    let tones = client.complete_prompt_argument("letter", "tone", "k", None).await.unwrap();
    assert_eq!(tones.values, ["kind"]);
    client.cancel().await.unwrap();
}
