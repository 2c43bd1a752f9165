//! Arbitrary bytes as what a tool prints: whatever they are, its call is answered once, with one line of JSON that is a
//! result or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_project::{Catalog, Paths};
use mcp_bash_runner::StateDir;
use mcp_bash_server::{Channel, Connection, Log, Server, Settings, Setup, Style};
use mcp_bash_wire::{Line, LogLevel};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

/// Prints what the files hold, leaves what another holds as its error, and exits as the last one says.
const SCRIPT: &str = "#!/bin/sh\ncat out\ncat err >&2\n[ -s left ] && cat left >\"$MCP_TOOL_ERROR_FILE\"\nexit \"$(cat code)\"\n";

fuzz_target!(|bytes: &[u8]| {
    let [choice, code, bytes @ ..] = bytes else { return };
    let stage = stage();
    let (out, rest) = bytes.split_at(bytes.len() * usize::from(choice >> 2) / 64);
    let (err, left) = if choice & 2 == 0 { (rest, &[][..]) } else { (&[][..], rest) };
    for (name, text) in [("out", out), ("err", err), ("left", left)] {
        fs::write(stage.root.join(name), text).unwrap();
    }
    fs::write(stage.root.join("code"), (code % 4).to_string()).unwrap();
    let tool = if choice & 1 == 0 { "plain" } else { "promising" };
    let answer = stage.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#));
    match answer.get("error") {
        Some(error) => assert!(error["code"].is_i64() && error["message"].is_string(), "{answer}"),
        None => assert!(answer["result"]["content"].is_array(), "{answer}"),
    }
});

struct Stage {
    root: PathBuf,
    connection: Connection,
    messages: Mutex<Receiver<Vec<u8>>>,
    _runtime: tokio::runtime::Runtime,
}

struct Sent(Mutex<Sender<Vec<u8>>>);

impl Channel for Sent {
    fn push(&self, message: Vec<u8>) {
        self.0.lock().unwrap().send(message).unwrap();
    }

    fn flush(&self) {}
}

impl Stage {
    fn ask(&self, line: &str) -> Value {
        self.connection.receive(&Line::Whole(line.as_bytes()));
        let messages = self.messages.lock().unwrap();
        loop {
            let message = messages.recv().unwrap();
            assert!(!message.contains(&b'\n'));
            let message: Value = serde_json::from_slice(&message).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }
}

fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(|| {
        let root = std::env::temp_dir().join(format!("mcp-bash-fuzz-output-{}", std::process::id()));
        write_tool(&root, "plain", "{}");
        write_tool(&root, "promising", r#"{"outputSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}}"#);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let state_dir = Arc::new(StateDir::new(std::env::temp_dir(), false));
        let (settings, _) = Settings::read(|_| None);
        let setup = Setup::new(settings, runtime.handle().clone(), state_dir);
        let paths = Paths::of(&root);
        let reading = setup.reading(&paths);
        let catalog = Catalog::read(&paths, &reading);
        let log = Log::new(LogLevel::Emergency, Style::Json);
        let (sender, messages) = channel();
        let server = Arc::new(Server::new(setup, catalog, reading, log));
        let connection = Connection::new(server, Arc::new(Sent(Mutex::new(sender))));
        let stage = Stage { root, connection, messages: Mutex::new(messages), _runtime: runtime };
        stage.ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}"#);
        stage.connection.receive(&Line::Whole(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#));
        stage
    })
}

fn write_tool(root: &Path, name: &str, metadata: &str) {
    let folder = root.join("tools").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tool.meta.json"), metadata).unwrap();
    let script = folder.join("tool.sh");
    fs::write(&script, SCRIPT).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
}
