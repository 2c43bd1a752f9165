//! The shape of what we send, by revision. Handlers write the newest shape; this file leaves out what older revisions
//! do not know. Nowhere else is a result or a definition adapted.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_project::{About, Identity, Prompt, Resource, ResourceTemplate, Tool};
use mcp_bash_wire::{Limits, Object, Raw, Revision, Scanner, keys, write};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

/// What a method answers, before it takes the shape of a revision.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The members of the result, as JSON text without the braces around it.
    pub(crate) members: String,
    /// The members of the result's `_meta`, likewise.
    pub(crate) meta: String,
    /// Whether clients may keep the result for a while.
    pub(crate) cacheable: bool,
    /// Whether it is the result of a tool that says that it failed.
    pub(crate) is_error: bool,
}

/// How long a client may keep what it was told, where it may: as long as a scan of the project is good.
const TTL_MS: u32 = 5000;

impl Answer {
    pub(crate) fn members(members: String) -> Self {
        Self { members, ..Self::default() }
    }

    pub(crate) fn cacheable(self) -> Self {
        Self { cacheable: true, ..self }
    }

    /// The same with structured content, a JSON text. Revisions that do not know of it allow for members they do not
    /// know. It is written in its place at once, because it may be large.
    pub(crate) fn with_structured(self, json: &str, revision: Revision) -> Self {
        // Before the stateless era only an object could be structured content.
        if !revision.has_result_type() && !json.starts_with('{') {
            return self;
        }
        let mut members = Members(self.members);
        members.compact("structuredContent", json);
        Self { members: members.0, ..self }
    }

    /// The result as `revision` knows it.
    pub(crate) fn render(self, revision: Revision, identity: &Identity) -> RenderedResult {
        let mut result = Members(self.members);
        if self.cacheable && revision.has_result_type() {
            result.raw("ttlMs", &TTL_MS.to_string());
            // What a project offers may be nobody else's business, so caches between us and the client may not share it.
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
            result.raw("resultType", "\"complete\"");
        }
        RenderedResult { members: result.into_text(), has_tool_failed: self.is_error }
    }
}

/// A result in the shape of its revision.
#[derive(Debug, Default)]
pub(crate) struct RenderedResult {
    /// Its members, as JSON text without the braces around it.
    pub(crate) members: String,
    /// Whether it is the result of a tool that says that it failed.
    pub(crate) has_tool_failed: bool,
}

impl From<String> for RenderedResult {
    fn from(members: String) -> Self {
        Self { members, has_tool_failed: false }
    }
}

/// A question to a client as `revision` knows it. `params` is the text of a JSON object, `elicitation_id` one that no other
/// question has.
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
        // Where there were only forms, a form has no mode.
        "elicitation/create" if !is_url && !revision.has_url_elicitation() => &["mode", "elicitationId"],
        // Ours alone is unguessable.
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

/// The members of a result that asks for more before there is an answer.
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

/// The content of a result that is being written.
pub(crate) struct Content(String);

impl Content {
    pub(crate) fn new() -> Self {
        Self(String::from("\"content\":["))
    }

    /// A result that says just this.
    pub(crate) fn of_text(text: &str) -> Self {
        let mut content = Self::new();
        content.text(text);
        content
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.comma();
        // Room for the rest of the message as well, so that a large text is not moved once more.
        self.0.reserve(text.len() + text.len() / 16 + 1024);
        self.0.push_str(r#"{"type":"text","text":"#);
        write::push_string(&mut self.0, text);
        self.0.push('}');
    }

    /// An item that is written already, as `revision` knows it: a kind that it does not know is described in words
    /// instead.
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

    /// A file as an item. Its bytes are text, or become Base64.
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
        if !self.0.ends_with('[') {
            self.0.push(',');
        }
    }
}

/// What to say instead of an item of content that `revision` does not know.
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

/// `serverInfo` as `revision` knows it.
pub(crate) fn server_info(identity: &Identity, revision: Revision) -> String {
    let mut info = Members::default();
    info.string("name", Some(&identity.name));
    info.string("version", Some(&identity.version));
    if revision.has_titles() {
        info.string("title", Some(&identity.title));
    }
    if revision.has_icons() {
        info.string("description", identity.description.as_deref());
        info.string("websiteUrl", identity.website_url.as_deref());
        info.optional_raw("icons", identity.icons.as_deref().map(serde_json::value::RawValue::get));
    }
    info.object()
}

/// The definition of a tool as `revision` knows it.
pub(crate) fn tool(tool: &Tool, revision: Revision) -> String {
    let text =
        |value: &Option<Box<serde_json::value::RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
    let mut definition = Members::default();
    definition.string("name", Some(&tool.name));
    if revision.has_titles() {
        definition.string("title", tool.title.as_deref());
    }
    definition.string("description", tool.description.as_deref());
    definition.raw("inputSchema", tool.input_schema.get());
    if revision.has_structured_content() {
        let schema =
            text(&tool.output_schema).filter(|schema| revision.has_result_type() || describes_object(schema));
        definition.optional_raw("outputSchema", schema.as_deref());
    }
    if revision.has_tool_annotations() {
        definition.optional_raw("annotations", text(&tool.annotations).as_deref());
    }
    if revision.has_icons() {
        definition.optional_raw("icons", text(&tool.icons).as_deref());
    }
    if revision.has_item_meta() {
        definition.optional_raw("_meta", text(&tool.meta).as_deref());
    }
    definition.object()
}

/// The definition of a resource as `revision` knows it.
pub(crate) fn resource(resource: &Resource, revision: Revision) -> String {
    let mut definition = Members::default();
    definition.string("uri", Some(&resource.uri));
    definition.optional_raw("size", resource.size.map(|size| size.to_string()).as_deref());
    definition.string("provider", Some(&resource.provider));
    about(&mut definition, &resource.about, revision);
    definition.object()
}

/// The definition of a template as `revision` knows it.
pub(crate) fn resource_template(template: &ResourceTemplate, revision: Revision) -> String {
    let mut definition = Members::default();
    definition.string("uriTemplate", Some(template.template.as_str()));
    about(&mut definition, &template.about, revision);
    definition.object()
}

/// What resources and templates have in common.
fn about(definition: &mut Members, about: &About, revision: Revision) {
    let raw =
        |value: &Option<Box<serde_json::value::RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
    definition.string("name", Some(&about.name));
    if revision.has_titles() {
        definition.string("title", about.title.as_deref());
    }
    definition.string("description", about.description.as_deref());
    definition.string("mimeType", about.mime_type.as_deref());
    definition.optional_raw("annotations", raw(&about.annotations).as_deref());
    if revision.has_icons() {
        definition.optional_raw("icons", raw(&about.icons).as_deref());
    }
    if revision.has_item_meta() {
        definition.optional_raw("_meta", raw(&about.meta).as_deref());
    }
}

/// The definition of a prompt as `revision` knows it.
pub(crate) fn prompt(prompt: &Prompt, revision: Revision) -> String {
    let raw =
        |value: &Option<Box<serde_json::value::RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
    let arguments = prompt.arguments.iter().map(|argument| {
        let mut shown = Members::default();
        shown.string("name", Some(&argument.name));
        if revision.has_titles() {
            shown.string("title", argument.title.as_deref());
        }
        shown.string("description", argument.description.as_deref());
        shown.raw("required", if argument.required { "true" } else { "false" });
        shown.object()
    });
    let mut definition = Members::default();
    definition.string("name", Some(&prompt.name));
    if revision.has_titles() {
        definition.string("title", prompt.title.as_deref());
    }
    definition.string("description", prompt.description.as_deref());
    definition.raw("arguments", &format!("[{}]", arguments.collect::<Vec<_>>().join(",")));
    if revision.has_icons() {
        definition.optional_raw("icons", raw(&prompt.icons).as_deref());
    }
    if revision.has_item_meta() {
        definition.optional_raw("_meta", raw(&prompt.meta).as_deref());
    }
    definition.object()
}

/// A message of a prompt, whose content is written already, as `revision` knows it.
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

/// Until the stateless era, structured content was an object, and a schema for anything else could not be told.
fn describes_object(schema: &str) -> bool {
    let read = || {
        let whole = Scanner::new(schema, Limits::NONE).whole_value().ok()?;
        Object::read(whole, "outputSchema", &["type"]).ok()?.get("type").and_then(Raw::string)
    };
    read().is_some_and(|kind| kind == "object")
}

/// The members of a JSON object that is being written.
#[derive(Debug, Default)]
pub(crate) struct Members(String);

impl Members {
    /// With room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.comma();
        for part in ["\"", name, "\":", json] {
            self.0.push_str(part);
        }
    }

    pub(crate) fn optional_raw(&mut self, name: &str, json: Option<&str>) {
        if let Some(json) = json {
            self.raw(name, json);
        }
    }

    pub(crate) fn string(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.raw(name, "");
            write::push_string(&mut self.0, text);
        }
    }

    /// Adds a member without the blanks between its tokens.
    fn compact(&mut self, name: &str, json: &str) {
        self.raw(name, "");
        write::push_compact(&mut self.0, json);
    }

    /// Adds members that are written already.
    pub(crate) fn splice(&mut self, members: &str) {
        if !members.is_empty() {
            self.comma();
            self.0.push_str(members);
        }
    }

    /// Adds the members of an object, except those of these names. Of several with one name the last counts, as it does
    /// to most who read JSON.
    pub(crate) fn splice_object(&mut self, object: Raw<'_>, except: &[&str]) {
        let mut members = Vec::new();
        // The text was scanned before, so that there is nothing left to go wrong.
        let _ = Scanner::again(object).members(|key, value| members.push((key, value)));
        let mut later = HashSet::new();
        let name = |key: Raw<'_>| key.string().map_or_else(|| key.text().to_owned(), Cow::into_owned);
        let mut left: Vec<_> =
            members.into_iter().rev().filter(|(key, _)| later.insert(name(*key))).collect();
        left.retain(|(key, _)| key.string().is_none_or(|name| !except.contains(&&*name)));
        for (key, value) in left.iter().rev() {
            self.comma();
            let _ = write!(self.0, "{}:{}", key.text(), write::compact(value.text()));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    pub(crate) fn object(mut self) -> String {
        self.0.insert(0, '{');
        self.0.push('}');
        self.0
    }

    fn comma(&mut self) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
    }
}
