//! Audit record: the members of one line. Every value is bounded, and one that was cut is named in `cut`.

use crate::event::Event;
use crate::reason::Cause;
use mcp_bash_harmless as harmless;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::time::SystemTime;

/// The most bytes of a text that are kept.
const LONGEST_TEXT: usize = 1024;

/// The most bytes of arguments that are kept, as compact JSON.
const LONGEST_JSON: usize = 16 * 1024;

/// The most texts of a list that are kept.
const MOST_LISTED: usize = 32;

/// The most bytes of each of them.
const LONGEST_LISTED: usize = 128;

/// No line is longer: all members together, each of their characters escaped.
pub(crate) const LONGEST_LINE: usize = 256 * 1024;

/// The members that a line can have, in the order of their documentation.
pub const FIELDS: [&str; 44] = [
    "seq",
    "prev",
    "time",
    "event.name",
    "event.id",
    "event.count",
    "call.id",
    "mcp.method.name",
    "jsonrpc.request.id",
    "gen_ai.tool.name",
    "gen_ai.prompt.name",
    "mcp.resource.uri",
    "mcp.completion.ref",
    "arguments",
    "arguments.hash",
    "arguments.problem",
    "caller.name",
    "caller.known_by",
    "caller.groups",
    "client.address",
    "client.name",
    "client.version",
    "mcp.session.id",
    "mcp.protocol.version",
    "task.id",
    "launcher",
    "sandbox",
    "policy.rule",
    "consent",
    "outcome",
    "error.type",
    "duration_ms",
    "bytes.in",
    "bytes.out",
    "trace.id",
    "content",
    "cut",
    "service.name",
    "service.version",
    "process.pid",
    "audit.previous_file",
    "audit.lost_records",
    "torn.bytes",
    "torn.hash",
];

/// What is recorded about one event. Members that repeat a name are the caller's mistake.
#[derive(Debug, Clone)]
pub struct Record {
    /// JSON members, separated by commas.
    members: String,
    cut: Vec<&'static str>,
}

impl Record {
    pub fn new(event: Event, time: SystemTime) -> Self {
        let mut members = String::with_capacity(512);
        let _ =
            write!(members, r#""time":"{}","event.name":"{}""#, mcp_bash_utc::precise(time), event.name());
        Self { members, cut: Vec::new() }
    }

    /// Adds why it failed or was refused.
    pub fn error(&mut self, cause: impl Into<Cause>) -> &mut Self {
        self.name("error.type");
        match cause.into() {
            Cause::Reason(reason) => push_string(&mut self.members, reason.word()),
            Cause::Code(code) => push_string(&mut self.members, &code.to_string()),
        }
        self
    }

    /// Adds a text, of which the first kilobyte is kept.
    pub fn text(&mut self, name: &'static str, text: &str) -> &mut Self {
        debug_assert!(name != "error.type", "its words are those of `Reason`");
        let kept = self.kept(name, text, LONGEST_TEXT);
        self.name(name);
        push_string(&mut self.members, kept);
        self
    }

    /// Adds a text if there is one.
    pub fn text_if(&mut self, name: &'static str, text: Option<&str>) -> &mut Self {
        if let Some(text) = text {
            self.text(name, text);
        }
        self
    }

    pub fn number(&mut self, name: &'static str, number: u64) -> &mut Self {
        self.name(name);
        let _ = write!(self.members, "{number}");
        self
    }

    /// Adds a duration in milliseconds, to the microsecond.
    pub fn milliseconds(&mut self, name: &'static str, duration: std::time::Duration) -> &mut Self {
        self.name(name);
        let microseconds = duration.as_micros();
        let _ = write!(self.members, "{}.{:03}", microseconds / 1000, microseconds % 1000);
        self
    }

    /// Adds a list of texts, unless it is empty.
    pub fn list<'t>(&mut self, name: &'static str, texts: impl IntoIterator<Item = &'t str>) -> &mut Self {
        let mut texts = texts.into_iter().peekable();
        if texts.peek().is_none() {
            return self;
        }
        self.name(name);
        self.members.push('[');
        for (place, text) in texts.enumerate() {
            if place == MOST_LISTED {
                self.note_cut(name);
                break;
            }
            if place > 0 {
                self.members.push(',');
            }
            let kept = self.kept(name, text, LONGEST_LISTED);
            push_string(&mut self.members, kept);
        }
        self.members.push(']');
        self
    }

    /// Adds JSON that a client sent, as a value. Beyond the limit its beginning is kept, as a text.
    pub fn json(&mut self, name: &'static str, text: &str) -> &mut Self {
        // Written again: the client may have spread it over lines.
        let compact = match serde_json::from_str::<Value>(text) {
            Ok(value) => harmless::json(&value.to_string()).into_owned(),
            Err(_) => String::new(),
        };
        if !compact.is_empty() && compact.len() <= LONGEST_JSON {
            self.name(name);
            self.members.push_str(&compact);
            return self;
        }
        let text = if compact.is_empty() { text } else { &compact };
        let kept = self.kept(name, text, LONGEST_JSON);
        self.name(name);
        push_string(&mut self.members, kept);
        self
    }

    /// Adds those members of another record that have these names.
    pub fn share(&mut self, other: &Self, names: &[&'static str]) -> &mut Self {
        let members: Map<String, Value> =
            serde_json::from_str(&format!("{{{}}}", other.members)).unwrap_or_default();
        for name in names {
            let Some(value) = members.get(*name) else { continue };
            self.name(name);
            self.members.push_str(&harmless::json(&value.to_string()));
            if other.cut.contains(name) {
                self.note_cut(name);
            }
        }
        self
    }

    fn name(&mut self, name: &'static str) {
        debug_assert!(FIELDS.contains(&name), "`{name}` is not in the table of fields");
        self.members.push_str(",\"");
        self.members.push_str(name);
        self.members.push_str("\":");
    }

    /// The beginning of a text that is kept.
    fn kept<'t>(&mut self, name: &'static str, text: &'t str, most: usize) -> &'t str {
        if text.len() <= most {
            return text;
        }
        self.note_cut(name);
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        &text[..end]
    }

    fn note_cut(&mut self, name: &'static str) {
        if !self.cut.contains(&name) {
            self.cut.push(name);
        }
    }

    /// The members of the line, all but those of the chain.
    pub(crate) fn into_members(mut self) -> String {
        let cut = std::mem::take(&mut self.cut);
        self.list("cut", cut);
        self.members
    }
}

/// Appends a JSON string that holds no line break and nothing that a terminal acts on.
fn push_string(members: &mut String, text: &str) {
    // Most texts are written as they are.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
        members.push('"');
        members.push_str(text);
        members.push('"');
        return;
    }
    let quoted = Value::from(text).to_string();
    members.push_str(&harmless::json(&quoted));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn record() -> Record {
        Record::new(Event::ToolCall, UNIX_EPOCH + Duration::from_millis(1_500))
    }

    fn parsed(record: Record) -> (String, Value) {
        let line = format!("{{{}}}", record.into_members());
        let value = serde_json::from_str(&line).unwrap();
        (line, value)
    }

    #[test]
    fn members_are_written_in_their_order() {
        let mut record = record();
        record.text("gen_ai.tool.name", "greet").number("bytes.in", 7);
        record.milliseconds("duration_ms", Duration::from_micros(12_034)).list("caller.groups", ["a", "b"]);
        record.list("launcher", []).text_if("sandbox", None).json("arguments", "{ \"a\" :\n [1, 2.50] }");
        let (line, _) = parsed(record);
        let expected = r#"{"time":"1970-01-01T00:00:01.500000Z","event.name":"mcp.tools.call","gen_ai.tool.name":"greet","bytes.in":7,"duration_ms":12.034,"caller.groups":["a","b"],"arguments":{"a":[1,2.5]}}"#;
        assert_eq!(line, expected);
    }

    #[test]
    fn no_value_leaves_its_line_or_its_string() {
        let hostile = "a\n{\"seq\":1}\r\u{1b}[2J\u{202e}\u{9b}1m\u{2028}\"},\\";
        let mut record = record();
        record.text("gen_ai.tool.name", hostile).list("caller.groups", [hostile]);
        record.json("arguments", &serde_json::json!({ hostile: hostile }).to_string());
        let (line, value) = parsed(record);
        assert!(
            !line.contains(|letter: char| letter.is_control() || "\u{202e}\u{2028}".contains(letter)),
            "{line}"
        );
        assert_eq!(value["gen_ai.tool.name"], hostile);
        assert_eq!(value["caller.groups"][0], hostile);
        assert_eq!(value["arguments"][hostile], hostile);
        assert_eq!(value["seq"], Value::Null);
    }

    #[test]
    fn long_values_are_cut_and_named() {
        let long = "\u{1}ü".repeat(1 << 19);
        let mut record = record();
        record.text("mcp.resource.uri", &long).json("arguments", &Value::from(long.as_str()).to_string());
        record.list("caller.groups", std::iter::repeat_n(long.as_str(), 100));
        for name in ["consent", "launcher", "sandbox", "policy.rule", "task.id", "trace.id", "client.name"] {
            record.text(name, &long);
        }
        let (line, value) = parsed(record);
        assert!(line.len() < LONGEST_LINE, "{}", line.len());
        assert_eq!(value["cut"][0], "mcp.resource.uri");
        assert_eq!(value["cut"][1], "arguments");
        assert!(value["mcp.resource.uri"].as_str().unwrap().len() <= LONGEST_TEXT);
        assert_eq!(value["caller.groups"].as_array().unwrap().len(), MOST_LISTED);
    }

    #[test]
    fn what_is_no_json_is_kept_as_a_text() {
        let mut record = record();
        record.json("arguments", "{\"seq\":1\n");
        assert_eq!(parsed(record).1["arguments"], "{\"seq\":1\n");
    }
}
