//! An independent judge of a conversation: it reads what a client sent with a parser of its own, works out how many
//! answers each line must get, and holds that against what the server sent.

use mcp_bash_project::{Catalog, Paths, Reading};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::Scripts;
use mcp_bash_server::{Channel, Connection, Flow, Log, Server, Style};
use mcp_bash_settings::Settings;
use mcp_bash_wire::{Line, LogLevel};
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, OnceLock};

/// What happened on a connection before the bytes that are judged.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Before {
    Nothing,
    /// A session of a revision that has batches.
    Batches,
    /// A session of the newest handshake revision.
    Session,
    /// A session that is shutting down.
    Shutdown,
}

impl Before {
    fn messages(self) -> &'static [&'static str] {
        const BATCHES: &str = r#"{"jsonrpc":"2.0","id":"before","method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
        const NEWEST: &str = r#"{"jsonrpc":"2.0","id":"before","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        const SHUTDOWN: &str = r#"{"jsonrpc":"2.0","id":"before","method":"shutdown"}"#;
        match self {
            Self::Nothing => &[],
            Self::Batches => &[BATCHES, READY],
            Self::Session => &[NEWEST, READY],
            Self::Shutdown => &[NEWEST, READY, SHUTDOWN],
        }
    }
}

/// Sends `bytes` to a server, and fails if it does not answer as it must.
pub(crate) fn judge(before: Before, bytes: &[u8]) {
    let collected = Arc::new(Collected::default());
    let (server, runtime) = server();
    let connection = Connection::new(Arc::clone(server), Arc::clone(&collected) as _);
    for message in before.messages() {
        connection.receive(&Line::Whole(message.as_bytes()));
    }
    collected.take();

    let mut expected = Expected::default();
    let batches = matches!(before, Before::Batches);
    for line in bytes.split(|byte| *byte == b'\n') {
        expected.add(line, batches);
        if connection.receive(&Line::Whole(line)) == Flow::Exit {
            break;
        }
    }
    runtime.block_on(connection.finish());
    expected.hold_against(&collected.take(), bytes);
}

/// A server without a project, shared by all conversations, and where it works.
fn server() -> &'static (Arc<Server>, tokio::runtime::Runtime) {
    static SERVER: OnceLock<(Arc<Server>, tokio::runtime::Runtime)> = OnceLock::new();
    SERVER.get_or_init(|| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let nowhere = std::path::Path::new("/nonexistent");
        let (settings, _) = Settings::read(|_| None);
        let state_dir = Arc::new(StateDir::new(std::env::temp_dir(), false));
        let log = Log::new(LogLevel::Emergency, Style::Json);
        let catalog = Catalog::read(&Paths::of(nowhere), &Reading::default());
        let scripts = Arc::new(Scripts::new(settings, state_dir));
        let server = Server::new(scripts, runtime.handle().clone(), catalog, Reading::default(), log);
        (Arc::new(server), runtime)
    })
}

/// A channel that keeps what is sent.
#[derive(Default)]
struct Collected(Mutex<Vec<Vec<u8>>>);

impl Collected {
    fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Channel for Collected {
    fn push(&self, message: Vec<u8>) {
        self.0.lock().unwrap().push(message);
    }

    fn flush(&self) {}
}

/// How many messages must come.
#[derive(Default)]
struct Expected {
    least: usize,
    most: usize,
    /// How often an id may be answered at the most: what is refused may be answered without one.
    ids: HashMap<String, usize>,
    /// Something was sent whose keys this parser cannot read: an id may have stood among them.
    unreadable: bool,
}

impl Expected {
    fn add(&mut self, line: &[u8], batches: bool) {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return;
        }
        let text =
            std::str::from_utf8(line).ok().filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
        let Some(text) = text else {
            return self.expect(1..=1);
        };
        if !text.starts_with('[') {
            let owed = self.owed_for(text);
            return self.expect(owed);
        }
        let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap();
        if !batches || elements.is_empty() {
            return self.expect(1..=1);
        }
        let owed: Vec<_> = elements.iter().map(|element| self.owed_for(element.get())).collect();
        // One array for all answers, or nothing where there are none.
        let least = usize::from(owed.iter().any(|owed| *owed.start() > 0));
        let most = usize::from(owed.iter().any(|owed| *owed.end() > 0));
        self.expect(least..=most);
    }

    fn expect(&mut self, answers: RangeInclusive<usize>) {
        self.least += answers.start();
        self.most += answers.end();
    }

    /// How many answers an object or any other value must get, as a message of its own.
    fn owed_for(&mut self, text: &str) -> RangeInclusive<usize> {
        let Some(members) = members(text) else { return 1..=1 };
        let Some(members) = members else {
            self.unreadable = true;
            return 0..=1;
        };
        let count = |name: &str| members.iter().filter(|(key, _)| key == name).count();
        if ["jsonrpc", "id", "method", "params", "result", "error"].iter().any(|name| count(name) > 1) {
            return 1..=1;
        }
        let get = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let is_method = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).is_ok();
        let owed = match (get("method"), get("id")) {
            (None, _) if get("result").is_some() || get("error").is_some() => 0..=0,
            (Some(method), None) if is_method(method) => 0..=0,
            // A call that somebody cancels may go without an answer.
            (Some(method), Some(_)) if method.get() == "\"tools/call\"" => 0..=1,
            _ => 1..=1,
        };
        if let Some(id) = get("id").filter(|id| id.get().parse::<i64>().is_ok()) {
            *self.ids.entry(id.get().to_owned()).or_default() += owed.end();
        }
        owed
    }

    fn hold_against(&self, sent: &[Vec<u8>], bytes: &[u8]) {
        let shown = || {
            let sent: Vec<_> = sent.iter().map(|line| String::from_utf8_lossy(line)).collect();
            format!("{:?}\n{sent:?}", String::from_utf8_lossy(bytes))
        };
        let (mut answers, mut answered) = (0, HashMap::<String, usize>::new());
        for line in sent {
            assert!(!line.contains(&b'\n'), "a line break inside a message: {}", shown());
            let message: Value =
                serde_json::from_slice(line).unwrap_or_else(|error| panic!("{error}: {}", shown()));
            if message["method"] == "notifications/message" {
                continue;
            }
            answers += 1;
            let elements = message.as_array().cloned().unwrap_or_else(|| vec![message]);
            assert!(!elements.is_empty(), "an empty array: {}", shown());
            for element in elements {
                assert_eq!(element["jsonrpc"], "2.0", "{}", shown());
                assert!(element.get("result").is_some() != element.get("error").is_some(), "{}", shown());
                *answered.entry(element["id"].to_string()).or_default() += 1;
            }
        }
        let range = self.least..=self.most;
        assert!(range.contains(&answers), "{answers} answers, not {range:?}: {}", shown());
        for (id, most) in self.ids.iter().filter(|_| !self.unreadable) {
            let found = answered.get(id).copied().unwrap_or_default();
            assert!(found <= *most, "{found} answers to {id}, not {most} at the most: {}", shown());
        }
    }
}

/// The members of an object: `None` for what is no object, `Some(None)` for one whose keys cannot be read.
#[expect(clippy::option_option, reason = "what is no object and what cannot be told are different answers")]
fn members(text: &str) -> Option<Option<Vec<(String, &RawValue)>>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    text.starts_with('{').then(|| serde_json::Deserializer::from_str(text).deserialize_map(Members).ok())
}
