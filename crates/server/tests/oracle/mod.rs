//! Oracle: an independent judge of a conversation. It reads what a client sent with a parser of its own, works out how
//! many answers each line must get, and compares that with what the server sent.

use mcp_bash_project::{Catalog, Paths, Reading};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::Scripts;
use mcp_bash_server::{InMemoryClient, InMemoryReply, Log, Owed, Said, Server, Style};
use mcp_bash_settings::Settings;
use mcp_bash_wire::LogLevel;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

/// What happened on a connection before the bytes under test.
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
    let (server, runtime) = server();
    let client = InMemoryClient::new(server, server.local_principal());
    for message in before.messages() {
        client.send(message.as_bytes());
    }

    let (mut expected, mut replies) = (Expected::default(), Vec::new());
    let batches = matches!(before, Before::Batches);
    for line in bytes.split(|byte| *byte == b'\n') {
        expected.add(line, batches);
        replies.push(client.send(line));
        if client.client().has_exited() {
            break;
        }
    }
    runtime.block_on(client.client().finish());
    let answers: Vec<_> = replies.iter_mut().filter_map(|reply| answer_in(reply, bytes)).collect();
    expected.hold_against(&answers, bytes);
}

/// The answer to a message that was handled. Fails if the message is not owed what it got.
fn answer_in(reply: &mut InMemoryReply, bytes: &[u8]) -> Option<Vec<u8>> {
    let said: Vec<Said> = std::iter::from_fn(|| reply.try_next()).collect();
    let last = said.iter().position(|said| matches!(said, Said::Answer(_) | Said::End));
    let owed = last.map_or(Owed::Nothing, |_| Owed::Answer);
    assert_eq!(reply.owed, owed, "{said:?} {:?}", String::from_utf8_lossy(bytes));
    assert!(last.is_none_or(|last| last + 1 == said.len()), "something follows the last: {said:?}");
    said.into_iter().find_map(|said| match said {
        Said::Answer(answer) => Some(answer),
        _ => None,
    })
}

/// A server without a project, shared by all conversations, and its runtime.
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
        let scripts = Arc::new(Scripts::new(settings, state_dir, runtime.handle().clone()));
        let server = Server::new(scripts, runtime.handle().clone(), catalog, Reading::default(), log);
        (Arc::new(server), runtime)
    })
}

/// How many messages must come.
#[derive(Default)]
struct Expected {
    least: usize,
    most: usize,
    /// How often an id may be answered at most: a refused message may be answered without its id.
    ids: HashMap<String, usize>,
    /// Something was sent whose keys this parser cannot read: there may have been an id among them.
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
        // One array for all answers, or nothing if there are none.
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
            // A call that is cancelled may go without an answer.
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

/// The members of an object: `None` if it is not an object, `Some(None)` if its keys cannot be read.
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
