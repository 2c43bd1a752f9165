//! The official Rust SDK as a client: a whole session.

use crate::harness::{Project, Server, TIMEOUT};
use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RoleClient};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ServiceExt};
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Client {
    progress: Arc<Mutex<Vec<f64>>>,
    updated: Arc<tokio::sync::Notify>,
}

impl ClientHandler for Client {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(params.progress);
    }

    async fn on_resource_updated(
        &self,
        _params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.updated.notify_one();
    }
}

/// Waits for an expected event, with a timeout.
async fn patiently<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, future).await.expect("what must come")
}

// Shows: json-rpc
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

#[tokio::test]
#[expect(deprecated, reason = "sessions subscribe in this way, whatever came after them")]
async fn rmcp_reads_and_follows_resources() {
    let project = Project::new()
        .file("resources/note.txt", "one")
        .file("resources/family.meta.json", r#"{"uriTemplate": "echo://{word}"}"#);
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root());
    let transport = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
    let client = Client::default().serve(transport).await.expect("a session");

    let resources = client.list_all_resources().await.unwrap();
    let uri = resources[0].uri.clone();
    assert_eq!(client.list_all_resource_templates().await.unwrap()[0].uri_template, "echo://{word}");
    let read = client.read_resource(ReadResourceRequestParams::new(uri.clone())).await.unwrap();
    assert_eq!(serde_json::to_value(&read.contents[0]).unwrap()["text"], "one");
    client.subscribe(SubscribeRequestParams::new(uri.clone())).await.unwrap();
    let _project = project.file("resources/note.txt", "two");
    patiently(client.service().updated.notified()).await;
    client.unsubscribe(UnsubscribeRequestParams::new(uri)).await.unwrap();
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn rmcp_listens_without_a_handshake() {
    let project = Project::new().file("resources/note.txt", "one");
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root());
    let transport = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = Client::default().serve_with_lifecycle(transport, lifecycle).await.expect("no session");

    let uri = client.list_all_resources().await.unwrap()[0].uri.clone();
    let read = client.read_resource(ReadResourceRequestParams::new(uri.clone())).await.unwrap();
    assert_eq!(serde_json::to_value(&read.contents[0]).unwrap()["text"], "one");
    let filter =
        SubscriptionFilter::builder().resources_list_changed().resource_subscriptions([uri.clone()]).build();
    let mut subscription = client.listen(filter).await.unwrap();
    assert_eq!(subscription.acknowledged().resource_subscriptions, Some(vec![uri]));
    let project = project.file("resources/note.txt", "two");
    let told = patiently(subscription.next()).await.unwrap();
    assert!(matches!(told, Some(ServerNotification::ResourceUpdatedNotification(_))), "{told:?}");
    let _project = project.file("resources/other.txt", "new");
    let told = patiently(subscription.next()).await.unwrap();
    assert!(matches!(told, Some(ServerNotification::ResourceListChangedNotification(_))), "{told:?}");
    client.cancel().await.unwrap();
}
