//! Test stage: a server with fake scripts, and clients in the same process. Time is paused: nothing takes any.

use mcp_bash_project::{Catalog, Paths};
use mcp_bash_runner::fake_child::{Deed, FakeChildren, StartedWith};
use mcp_bash_runner::{Runner, StateDir};
use mcp_bash_scripts::Scripts;
use mcp_bash_server::{
    Identity, InMemoryClient, InMemoryReply, KnownBy, Log, Principal, Rights, Said, Server, Style,
};
use mcp_bash_settings::Settings;
use mcp_bash_wire::LogLevel;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Handle;

pub(crate) struct Stage {
    pub(crate) server: Arc<Server>,
    pub(crate) children: FakeChildren,
    pub(crate) folder: TempDir,
}

impl Stage {
    /// A server with a tool for each name. `script` says what their processes do.
    pub(crate) fn new(
        tools: &[&str],
        settings: &[(&str, &str)],
        script: impl Fn(&StartedWith) -> Vec<Deed> + Send + Sync + 'static,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for tool in tools {
            write_tool(folder.path(), tool);
        }
        let children = FakeChildren::new(script);
        let private = folder.path().join("private");
        fs::create_dir(&private).unwrap();
        let state_dir = Arc::new(StateDir::new(private, false));
        let runner = Runner::pretending(Arc::clone(&state_dir), &children);
        let value = |name: &str| settings.iter().find(|(known, _)| *known == name);
        let (settings, problems) = Settings::read(|name| value(name).map(|(_, value)| (*value).to_owned()));
        assert!(problems.is_empty(), "{problems:?}");
        let scripts = Arc::new(Scripts::with_runner(runner, settings, state_dir, Handle::current()));
        let paths = Paths::of(folder.path());
        let reading = scripts.reading(&paths);
        let catalog = Catalog::read(&paths, &reading);
        let log = Log::new(LogLevel::Emergency, Style::Json);
        let server = Arc::new(Server::new(scripts, Handle::current(), catalog, reading, log));
        Self { server, children, folder }
    }

    /// Waits until `count` processes were started.
    pub(crate) async fn wait_for_processes(&self, count: usize) {
        for _ in 0..10_000 {
            if self.children.records().len() >= count {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("{} processes were started, not {count}", self.children.records().len());
    }

    /// A caller with these rights.
    pub(crate) fn principal(&self, name: &str, rights: Option<Arc<Rights>>) -> Arc<Principal> {
        let identity = Identity { rights, ..Identity::new(name, KnownBy::Token) };
        Arc::new(self.server.principal(Arc::new(identity), None))
    }

    /// A client of that caller, with a session of the newest handshake revision.
    pub(crate) async fn client(&self, caller: &str) -> TestClient {
        let mut client = TestClient::new(self, caller);
        let capabilities = json!({ "elicitation": {} });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
        client.ask(0, "initialize", &hello).await;
        client.tell("notifications/initialized", &json!({}));
        client.ask(0, "logging/setLevel", &json!({ "level": "debug" })).await;
        client
    }
}

pub(crate) fn write_tool(root: &std::path::Path, name: &str) {
    let folder = root.join("tools").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tool.meta.json"), json!({ "name": name }).to_string()).unwrap();
    let file = folder.join("tool.sh");
    fs::write(&file, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) struct TestClient {
    pub(crate) client: InMemoryClient,
    /// Who sends the next message.
    pub(crate) principal: Arc<Principal>,
}

impl TestClient {
    pub(crate) fn new(stage: &Stage, caller: &str) -> Self {
        let principal = stage.principal(caller, None);
        Self { client: InMemoryClient::new(&stage.server, Arc::clone(&principal)), principal }
    }

    /// Sends what follows with these rights.
    pub(crate) fn set_rights(&mut self, stage: &Stage, rights: Option<Arc<Rights>>) {
        self.principal = stage.principal(self.principal.caller.name(), rights);
    }

    pub(crate) fn request(&self, id: u32, method: &str, params: &Value) -> InMemoryReply {
        self.client.send_as(
            &self.principal,
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string().as_bytes(),
        )
    }

    pub(crate) fn call(&self, id: u32, tool: &str) -> InMemoryReply {
        self.request(id, "tools/call", &json!({ "name": tool, "_meta": { "progressToken": id } }))
    }

    /// A call of the stateless era, with `more` added to its params.
    pub(crate) fn stateless_call(&self, id: u32, tool: &str, more: &Value) -> InMemoryReply {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let mut params = json!({ "name": tool, "_meta": meta });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.request(id, "tools/call", &params)
    }

    pub(crate) async fn ask(&mut self, id: u32, method: &str, params: &Value) -> Value {
        answer(&mut self.request(id, method, params)).await
    }

    pub(crate) fn tell(&self, method: &str, params: &Value) {
        self.client.send_as(
            &self.principal,
            json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().as_bytes(),
        );
    }

    /// The next message that belongs to no request.
    pub(crate) async fn unasked(&mut self) -> Value {
        match self.client.unasked().await {
            Some(Said::Notification(message) | Said::Question(message)) => parsed(&message),
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) async fn answer(reply: &mut InMemoryReply) -> Value {
    parsed(&reply.answer().await.expect("an answer"))
}

pub(crate) fn parsed(message: &[u8]) -> Value {
    serde_json::from_slice(message).unwrap()
}

/// The text of a result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// The name of the tool that a process was started for.
pub(crate) fn tool(started: &StartedWith) -> String {
    started.environment.get("MCP_TOOL_NAME").unwrap().to_string_lossy().into_owned()
}
