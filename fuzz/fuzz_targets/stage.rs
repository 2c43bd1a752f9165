//! Shared parts of the targets that run real scripts: a project on disk, a server in this process, and its
//! only client.

use mcp_bash_project::{Catalog, Paths};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::Scripts;
use mcp_bash_server::{Client, Log, Reply, Server, Stream, Style};
use mcp_bash_settings::Settings;
use mcp_bash_wire::{Line, LogLevel};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The timeout of a run. It only keeps a run from waiting for ever.
pub const TIMEOUT: Duration = Duration::from_secs(120);

pub struct Stage {
    pub root: PathBuf,
    client: Arc<Client>,
    reply: Arc<dyn Reply>,
    messages: Mutex<Receiver<Vec<u8>>>,
    _runtime: tokio::runtime::Runtime,
}

/// A tool: its name, its metadata and its script.
pub type Tool<'a> = (&'a str, &'a str, &'a str);

struct Sent(Mutex<Sender<Vec<u8>>>);

impl Stream for Sent {
    fn notify(&self, message: Vec<u8>) {
        self.0.lock().unwrap().send(message).unwrap();
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.notify(message);
        true
    }

    fn flush(&self) {}
}

impl Reply for Sent {
    fn answer(&self, message: Vec<u8>) {
        self.notify(message);
    }

    fn end(&self) {}

    fn is_shared(&self) -> bool {
        true
    }
}

impl Stage {
    /// A server for these tools, with a session of a client that offers `capabilities`.
    pub fn new(name: &str, tools: &[Tool<'_>], capabilities: &str) -> Self {
        let root = std::env::temp_dir().join(format!("mcp-bash-fuzz-{name}-{}", std::process::id()));
        for tool in tools {
            write_tool(&root, tool);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let state_dir = Arc::new(StateDir::new(std::env::temp_dir(), false));
        let unlimited = |name: &str| name.ends_with("_PER_MIN").then(|| "0".to_owned());
        let (settings, _) = Settings::read(unlimited);
        let scripts = Arc::new(Scripts::new(settings, state_dir, runtime.handle().clone()));
        let paths = Paths::of(&root);
        let reading = scripts.reading(&paths);
        let catalog = Catalog::read(&paths, &reading);
        let log = Log::new(LogLevel::Emergency, Style::Json);
        let (sender, messages) = channel();
        let server = Arc::new(Server::new(scripts, runtime.handle().clone(), catalog, reading, log));
        let sent = Arc::new(Sent(Mutex::new(sender)));
        let (reply, stream) = (Arc::clone(&sent) as _, sent as _);
        let client = Arc::new(Client::with_session(Arc::clone(&server), server.local_principal(), stream));
        let stage = Self { root, client, reply, messages: Mutex::new(messages), _runtime: runtime };
        stage.ask(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"f","version":"1"}}}}}}"#
        ));
        stage.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        stage.ask(r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}"#);
        stage
    }

    pub fn send(&self, line: &str) {
        self.client.receive(&Line::Whole(line.as_bytes()), &self.reply);
    }

    /// The next message, which is one line of JSON, unless the timeout is over.
    pub fn next_within(&self, patience: Duration) -> Option<Value> {
        let message = self.messages.lock().unwrap().recv_timeout(patience).ok()?;
        assert!(!message.contains(&b'\n'));
        Some(serde_json::from_slice(&message).unwrap())
    }

    /// Sends a request, and returns its answer.
    pub fn ask(&self, line: &str) -> Value {
        self.send(line);
        loop {
            let message = self.next_within(TIMEOUT).expect("an answer");
            if message.get("id").is_some() {
                return message;
            }
        }
    }
}

fn write_tool(root: &Path, (name, metadata, script): &Tool<'_>) {
    let folder = root.join("tools").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tool.meta.json"), metadata).unwrap();
    let file = folder.join("tool.sh");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}
