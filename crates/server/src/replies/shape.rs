//! Result shape: adapts results to the revision of a request. Handlers write the newest shape; this file removes what older
//! revisions lack, and `definitions.rs` does so for definitions. No other file adapts results.

use super::definitions::server_info;
use super::members::Members;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_project::Identity;
use mcp_bash_scripts::TraceVariables;
use mcp_bash_wire::{Limits, Object, Raw, Revision, Scanner, keys, write};
use std::fmt::Write as _;

/// The result of a method, before it is adapted to a revision.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The members of the result, as JSON text without braces.
    pub(crate) members: String,
    /// The members of `_meta`, as JSON text without braces.
    pub(crate) meta: String,
    /// Whether clients may cache the result.
    pub(crate) cacheable: bool,
    /// Whether a tool reports a failure.
    pub(crate) is_error: bool,
    /// Whether the call has become a task.
    pub(crate) is_task: bool,
}

/// How long a client may cache a result: as long as a scan of the project is valid.
const TTL_MS: u32 = 5000;

impl Answer {
    pub(crate) fn members(members: String) -> Self {
        Self { members, ..Self::default() }
    }

    pub(crate) fn cacheable(self) -> Self {
        Self { cacheable: true, ..self }
    }

    /// Adds structured content, as JSON text. Revisions without it allow unknown members. It is appended directly, because it
    /// may be large.
    pub(crate) fn with_structured(self, json: &str, revision: Revision) -> Self {
        // Before the stateless era, structured content had to be an object.
        if !revision.has_result_type() && !json.starts_with('{') {
            return self;
        }
        let mut members = Members::of_text(self.members);
        members.compact("structuredContent", json);
        Self { members: members.into_text(), ..self }
    }

    /// The result for a revision.
    pub(crate) fn render(self, revision: Revision, identity: &Identity) -> RenderedResult {
        let mut result = Members::of_text(self.members);
        if self.cacheable && revision.has_result_type() {
            result.raw("ttlMs", &TTL_MS.to_string());
            // A project may be private, so shared caches may not store the result.
            result.raw("cacheScope", "\"private\"");
        }
        let mut meta = Members::default();
        meta.splice(&self.meta);
        if revision.has_result_type() {
            meta.raw(keys::SERVER_INFO, &server_info(identity, revision));
        }
        if !meta.is_empty() {
            result.raw("_meta", &meta.object());
        }
        if revision.has_result_type() {
            result.raw("resultType", if self.is_task { "\"task\"" } else { "\"complete\"" });
        }
        RenderedResult { members: result.into_text(), has_tool_failed: self.is_error }
    }
}

/// A result adapted to its revision.
#[derive(Debug, Default)]
pub(crate) struct RenderedResult {
    /// Its members, as JSON text without braces.
    pub(crate) members: String,
    /// Whether a tool reports a failure.
    pub(crate) has_tool_failed: bool,
}

impl From<String> for RenderedResult {
    fn from(members: String) -> Self {
        Self { members, has_tool_failed: false }
    }
}

/// The params of a question for a revision. `params` is a JSON object, `elicitation_id` is unique.
pub(crate) fn question(
    method: &str,
    params: &str,
    elicitation_id: Option<&str>,
    revision: Revision,
) -> String {
    let whole = Scanner::new(params, Limits::NONE).whole_value().ok().filter(|raw| raw.is_object());
    let Some(whole) = whole else { return "{}".to_owned() };
    let is_url = Object::read(whole, "params", &["url"]).is_ok_and(|params| params.get("url").is_some());
    let except: &[&str] = match method {
        // A revision with forms only has no mode.
        "elicitation/create" if !is_url && !revision.has_url_elicitation() => &["mode", "elicitationId"],
        // Only the server's own id is unguessable.
        "elicitation/create" => &["elicitationId"],
        _ => &[],
    };
    let mut shown = Members::default();
    shown.splice_object(whole, except);
    if is_url && revision.has_elicitation_ids() {
        shown.string("elicitationId", elicitation_id);
    }
    shown.object()
}

/// Adds the trace context to the params of a question, unless its script gives it a `_meta`.
pub(crate) fn traced(params: String, trace: &TraceVariables) -> String {
    let Some(parent) = &trace.parent else { return params };
    let whole = Scanner::new(&params, Limits::NONE).whole_value().ok();
    let Some(whole) = whole.filter(|raw| raw.is_object()) else { return params };
    if Object::read(whole, "params", &["_meta"]).map_or(true, |members| members.get("_meta").is_some()) {
        return params;
    }
    let mut meta = Members::default();
    meta.string(keys::TRACEPARENT, Some(parent));
    meta.string(keys::TRACESTATE, trace.state.as_deref());
    meta.string(keys::BAGGAGE, trace.baggage.as_deref());
    let mut shown = Members::default();
    shown.splice_object(whole, &[]);
    shown.raw("_meta", &meta.object());
    shown.object()
}

/// The members of an `input_required` result.
pub(crate) fn input_required<'a>(requests: impl Iterator<Item = (&'a str, &'a str)>, state: &str) -> String {
    let mut asked = Members::default();
    for (key, request) in requests {
        asked.splice(&format!("{}:{request}", write::string(key)));
    }
    let mut result = Members::default();
    result.raw("inputRequests", &asked.object());
    result.string("requestState", Some(state));
    result.raw("resultType", "\"input_required\"");
    result.into_text()
}

/// The `content` of a result under construction.
pub(crate) struct Content(String);

impl Content {
    pub(crate) fn new() -> Self {
        Self(String::from("\"content\":["))
    }

    /// Content that consists of one text.
    pub(crate) fn of_text(text: &str) -> Self {
        let mut content = Self::new();
        content.text(text);
        content
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.comma();
        // Also reserves room for the rest of the message, so that a large text is not copied again.
        self.0.reserve(text.len() + text.len() / 16 + 1024);
        self.0.push_str(r#"{"type":"text","text":"#);
        write::push_string(&mut self.0, text);
        self.0.push('}');
    }

    /// Adds a serialized item. A kind that the revision lacks is described as text instead.
    pub(crate) fn item(&mut self, item: &str, revision: Revision) {
        if let Some(words) = in_words(item, revision) {
            self.text(words.trim());
        } else {
            self.comma();
            write::push_compact(&mut self.0, item);
        }
    }

    /// Its length so far, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.ends_with('[')
    }

    /// Adds a file as an embedded resource, as text or Base64.
    pub(crate) fn file(&mut self, uri: &str, mime_type: &str, bytes: &[u8]) {
        self.comma();
        self.0.push_str(r#"{"type":"resource","resource":{"uri":"#);
        write::push_string(&mut self.0, uri);
        self.0.push_str(r#","mimeType":"#);
        write::push_string(&mut self.0, mime_type);
        if let Ok(text) = std::str::from_utf8(bytes) {
            self.0.push_str(r#","text":"#);
            write::push_string(&mut self.0, text);
        } else {
            self.0.push_str(r#","blob":""#);
            STANDARD.encode_string(bytes, &mut self.0);
            self.0.push('"');
        }
        self.0.push_str("}}");
    }

    pub(crate) fn finish(mut self, is_error: bool) -> Answer {
        let _ = write!(self.0, "],\"isError\":{is_error}");
        Answer { is_error, ..Answer::members(self.0) }
    }

    fn comma(&mut self) {
        if !self.is_empty() {
            self.0.push(',');
        }
    }
}

/// The description of an item that the revision lacks.
fn in_words(item: &str, revision: Revision) -> Option<String> {
    if revision.has_audio() && revision.has_resource_links() {
        return None;
    }
    let whole = Scanner::new(item, Limits::NONE).whole_value().ok()?;
    let members = Object::read(whole, "content", &["type", "uri", "name", "mimeType"]).ok()?;
    let text = |name| members.get(name).and_then(Raw::string).unwrap_or_default();
    match &*text("type") {
        "audio" if !revision.has_audio() => Some(format!("[audio, {}]", text("mimeType"))),
        "resource_link" if !revision.has_resource_links() => {
            Some(format!("{} <{}>", text("name"), text("uri")))
        }
        _ => None,
    }
}

/// A message of a prompt, with serialized content, for a revision.
pub(crate) fn message(role: &str, content: &str, revision: Revision) -> String {
    let words = in_words(content, revision).map(|words| {
        let mut text = Members::default();
        text.raw("type", "\"text\"");
        text.string("text", Some(words.trim()));
        text.object()
    });
    let mut message = Members::default();
    message.string("role", Some(role));
    message.raw("content", words.as_deref().unwrap_or(content));
    message.object()
}
