//! The official Rust SDK as a client over HTTP, in both eras: the same conversation, and the contents of the
//! answers.
#![expect(deprecated, reason = "sampling, roots and logs are what clients have, whatever comes after them")]

use crate::harness::http::HttpServer;
use crate::harness::{Project, TIMEOUT, exists, wait_until};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ErrorCode, ErrorData,
    GetPromptRequestParams, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ResourceUpdatedNotificationParam,
    Root, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestContext, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A folder that exists.
const ROOT: &str = "file:///tmp";

#[derive(Clone, Default)]
struct Client {
    progress: Arc<Mutex<Vec<f64>>>,
    logs: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<Vec<String>>>,
    updated: Arc<Notify>,
    tools_changed: Arc<Notify>,
}

type Running = RunningService<RoleClient, Client>;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
        let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap();
        ClientConfig::new(capabilities, Implementation::new("rmcp", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let message = serde_json::to_value(request).unwrap()["message"].as_str().unwrap().to_owned();
        let content =
            if message.contains("name") { json!({ "name": "Zoë" }) } else { json!({ "confirmed": true }) };
        self.asked.lock().unwrap().push(message);
        Ok(serde_json::from_value(json!({ "action": "accept", "content": content })).unwrap())
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let request = serde_json::to_value(request).unwrap();
        let text = request["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
        self.asked.lock().unwrap().push(text);
        let content = json!({ "type": "text", "text": "In short." });
        let reply = json!({ "role": "assistant", "model": "none", "content": content });
        Ok(serde_json::from_value(reply).unwrap())
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new(ROOT)]))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(params.progress);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.logs.lock().unwrap().push(serde_json::to_value(params).unwrap());
    }

    async fn on_resource_updated(
        &self,
        _params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.updated.notify_one();
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

/// Waits for an expected event, with a timeout.
async fn patiently<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, future).await.expect("what must come")
}

fn project() -> Project {
    let sdk = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\n";
    Project::with_hi()
        .tool("fails", "#!/bin/sh\necho broken >&2\nexit 2\n")
        .tool("steps", &format!("{sdk}mcp_progress 50 half\nmcp_progress 100 whole\nmcp_emit_text done\n"))
        .tool("chatty", &format!("{sdk}mcp_log_error chatty words\nmcp_emit_text said\n"))
        .tool("weather", &format!("{sdk}mcp_emit_json '{{\"degrees\":21}}'\n"))
        .file(
            "tools/weather/tool.meta.json",
            r#"{"outputSchema": {"type": "object", "properties": {"degrees": {"type": "integer"}}}}"#,
        )
        .tool(
            "introduce",
            &format!(
                "{sdk}a=$(mcp_elicit_string 'Your name?' name)\nb=$(mcp_elicit_confirm 'Well?')\n\
                 mcp_emit_text \"$(jq -r .content.name <<<\"$a\") $(jq -r .content.confirmed <<<\"$b\")\"\n"
            ),
        )
        .tool("summarise", &format!("{sdk}mcp_sample 'Summarise.' | jq -r .content.text\n"))
        .tool("folders", "#!/bin/sh\n\"$MCPBASH_BIN\" ask roots/list '{}' | jq -r '.result.roots[].uri'\n")
        .tool(
            "large",
            "#!/bin/sh\nt() { printf '{\"type\":\"text\",\"text\":\"'; head -c 1000000 /dev/zero | tr '\\0' x; printf '\"}'; }\n\
             printf '{\"content\":['; t; printf ,; t; printf ']}\\n'\n",
        )
        .tool("slow", "#!/bin/sh\necho $$ >pid.new\nmv pid.new pid\nexec sleep 1000\n")
        .file("prompts/letter.txt", "A {{tone}} letter\n")
        .file("prompts/letter.meta.json", r#"{"arguments": {"properties": {"tone": {"enum": ["kind", "stern"]}}}}"#)
        .file("resources/note.txt", "one")
        .file("resources/note.meta.json", r#"{"uri": "note://today", "mimeType": "text/plain"}"#)
        .file("resources/echo.meta.json", r#"{"uriTemplate": "echo://{word}", "provider": "echo"}"#)
        .script("providers/echo.sh", "#!/bin/sh\nprintf '%s' \"$MCP_RESOURCE_VAR_word\"\n")
}

/// Large results are sent whole.
const UNCUT: [(&str, &str); 1] = [("MCPBASH_MAX_RESULT_TEXT_BYTES", "0")];

async fn connect(server: &HttpServer, lifecycle: ClientLifecycleMode) -> Running {
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{}/mcp", server.address));
    Client::default().serve_with_lifecycle(transport, lifecycle).await.expect("a client")
}

async fn call(client: &Running, tool: &'static str) -> CallToolResult {
    patiently(client.call_tool(CallToolRequestParams::new(tool))).await.unwrap()
}

/// All texts of a result that is not an error.
async fn text(client: &Running, tool: &'static str) -> String {
    let result = serde_json::to_value(call(client, tool).await).unwrap();
    assert_ne!(result["isError"], true, "{result}");
    result["content"].as_array().unwrap().iter().map(|content| content["text"].as_str().unwrap()).collect()
}

/// Checks for either era.
async fn converse(client: &Running, project: &Project) {
    let info = client.peer_info().unwrap();
    assert_eq!(info.server_info.as_ref().unwrap().version, "0.0.0");
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 10, "{tools:?}");
    assert_eq!(text(client, "hi").await, "hi");
    assert_eq!(call(client, "weather").await.structured_content, Some(json!({ "degrees": 21 })));
    let result = call(client, "fails").await;
    assert_eq!(result.is_error, Some(true));
    assert_eq!(serde_json::to_value(&result.content[0]).unwrap()["text"], "broken");
    let refusal = client.call_tool(CallToolRequestParams::new("no such")).await.unwrap_err();
    assert!(
        matches!(&refusal, ServiceError::McpError(error) if error.code == ErrorCode::INVALID_PARAMS),
        "{refusal:?}"
    );
    assert_eq!(text(client, "large").await, "x".repeat(2_000_000));

    assert_eq!(text(client, "steps").await, "done");
    // The library runs its handlers concurrently, in any order.
    let all = || {
        let mut progress = client.service().progress.lock().unwrap().clone();
        progress.sort_by(f64::total_cmp);
        (progress == [50.0, 100.0]).then_some(())
    };
    wait_until("all progress", all);

    assert_eq!(text(client, "introduce").await, "Zoë true");
    assert_eq!(text(client, "summarise").await.trim_end(), "In short.");
    assert_eq!(*client.service().asked.lock().unwrap(), ["Your name?", "Well?", "Summarise."]);
    assert_eq!(text(client, "folders").await.trim_end(), ROOT);

    let mut request = GetPromptRequestParams::new("letter");
    request.arguments = serde_json::from_str(r#"{"tone": "kind"}"#).ok();
    let prompt = client.get_prompt(request).await.unwrap();
    assert_eq!(serde_json::to_value(&prompt.messages[0].content).unwrap()["text"], "A kind letter");
    let tones = client.complete_prompt_argument("letter", "tone", "k", None).await.unwrap();
    assert_eq!(tones.values, ["kind"]);

    assert_eq!(client.list_all_resources().await.unwrap()[0].uri, "note://today");
    assert_eq!(client.list_all_resource_templates().await.unwrap()[0].uri_template, "echo://{word}");
    assert_eq!(read(client, "note://today").await, "one");
    assert_eq!(read(client, "echo://hi").await, "hi");
    client.read_resource(ReadResourceRequestParams::new("note://nowhere")).await.unwrap_err();

    cancel(client, project).await;
}

async fn read(client: &Running, uri: &str) -> String {
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    serde_json::to_value(&read.contents[0]).unwrap()["text"].as_str().unwrap().to_owned()
}

/// Cancels a call; its script is killed.
async fn cancel(client: &Running, project: &Project) {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("slow")));
    let handle = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    let started = || std::fs::read_to_string(project.path("pid")).ok();
    let pid: u32 = wait_until("the script to start", started).trim().parse().unwrap();
    handle.cancel(None).await.unwrap();
    wait_until("the script to end", || (!exists(pid)).then_some(()));
    assert_eq!(text(client, "hi").await, "hi");
}

#[tokio::test(flavor = "multi_thread")]
async fn rmcp_has_a_session_over_http() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &UNCUT);
    let client = connect(&server, ClientLifecycleMode::Initialize).await;
    assert_eq!(client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2025_11_25);
    converse(&client, &project).await;

    assert_eq!(text(&client, "chatty").await, "said");
    let told = || client.service().logs.lock().unwrap().iter().find(|log| log["logger"] == "chatty").cloned();
    let log = wait_until("the log of a script", told);
    assert_eq!((&log["level"], &log["data"]), (&json!("error"), &json!("words")));

    client.subscribe(SubscribeRequestParams::new("note://today")).await.unwrap();
    project.write("resources/note.txt", "two");
    patiently(client.service().updated.notified()).await;
    assert_eq!(read(&client, "note://today").await, "two");
    project.write_script("tools/late/tool.sh", "#!/bin/sh\necho late\n");
    patiently(client.service().tools_changed.notified()).await;
    assert_eq!(text(&client, "late").await, "late");
    client.cancel().await.unwrap();
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn rmcp_needs_no_session_over_http() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &UNCUT);
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = connect(&server, lifecycle).await;
    assert_eq!(client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2026_07_28);
    converse(&client, &project).await;

    let filter =
        SubscriptionFilter::builder().tools_list_changed().resource_subscriptions(["note://today"]).build();
    let mut changes = client.listen(filter).await.unwrap();
    project.write("resources/note.txt", "two");
    let told = patiently(changes.next()).await.unwrap();
    assert!(matches!(told, Some(ServerNotification::ResourceUpdatedNotification(_))), "{told:?}");
    assert_eq!(read(&client, "note://today").await, "two");
    project.write_script("tools/late/tool.sh", "#!/bin/sh\necho late\n");
    let told = patiently(changes.next()).await.unwrap();
    assert!(matches!(told, Some(ServerNotification::ToolListChangedNotification(_))), "{told:?}");
    assert_eq!(text(&client, "late").await, "late");
    client.cancel().await.unwrap();
    server.finish();
}

/// By default it probes the server, and uses no session if none is needed.
#[tokio::test(flavor = "multi_thread")]
async fn rmcp_finds_out_over_http_what_is_spoken() {
    let project = Project::with_hi();
    let server = HttpServer::start_with(project.root(), &[], &UNCUT);
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let client =
        connect(&server, ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }).await;
    assert_eq!(client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2026_07_28);
    assert_eq!(text(&client, "hi").await, "hi");
    client.cancel().await.unwrap();
    server.finish();
}
