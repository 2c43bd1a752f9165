//! Requests that a policy decides on, and the variables of its expressions.

use mcp_bash_cel::{Timestamp, Value, Variable};
use serde_json::{Map, Value as Json, json};

/// The variables, in the order of their values in [`Request::values`].
pub(crate) const VARIABLES: [Variable; 9] = [
    Variable { name: "kind", fields: None },
    Variable { name: "tool", fields: Some(&["name", "title", "annotations", "tags", "folder", "meta"]) },
    Variable { name: "resource", fields: Some(&["uri"]) },
    Variable { name: "prompt", fields: Some(&["name"]) },
    Variable { name: "args", fields: None },
    Variable { name: "caller", fields: Some(&["name", "groups", "scopes", "claims", "known_by", "address"]) },
    Variable { name: "client", fields: Some(&["name"]) },
    Variable { name: "roots", fields: None },
    Variable { name: "now", fields: None },
];

/// The numbers of variables. Only some requests have these.
pub(crate) const TOOL: usize = 1;
pub(crate) const RESOURCE: usize = 2;
pub(crate) const PROMPT: usize = 3;
pub(crate) const ARGS: usize = 4;
pub(crate) const ROOTS: usize = 7;

const CALLER: usize = 5;
const CLIENT: usize = 6;

/// A part of a request that takes work to describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Arguments,
    Caller,
    Client,
    Roots,
}

impl Part {
    pub(crate) fn variable(self) -> usize {
        match self {
            Self::Arguments => ARGS,
            Self::Caller => CALLER,
            Self::Client => CLIENT,
            Self::Roots => ROOTS,
        }
    }
}

/// What a request asks for.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A tool, as [`tool_facts`] describes it.
    Tool(&'a Json),
    /// A resource, by its URI.
    Resource(&'a str),
    /// A prompt, by its name.
    Prompt(&'a str),
}

impl Subject<'_> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Tool(_) => Kind::Tool,
            Self::Resource(_) => Kind::Resource,
            Self::Prompt(_) => Kind::Prompt,
        }
    }
}

/// The kind of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Prompt,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tool, Self::Resource, Self::Prompt];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub subject: Subject<'a>,
    /// The arguments of a tool or a prompt.
    pub args: &'a Json,
    /// As [`CallerFacts::json`] describes it.
    pub caller: &'a Json,
    /// The program that sends the request: its `name`, as it says.
    pub client: &'a Json,
    /// The paths of the folders that the client works in, which is asked for them before a tool starts.
    pub roots: &'a Json,
    pub now: Timestamp,
}

impl<'a> Request<'a> {
    /// The values of the variables. Those of another subject are null; no expression that is evaluated names them.
    pub(crate) fn values(&self, named: &'a Json) -> [Value<'a>; VARIABLES.len()] {
        let kind = self.subject.kind();
        let when = |is: bool, value: &'a Json| if is { Value::from(value) } else { Value::Null };
        let tool = match self.subject {
            Subject::Tool(tool) => Value::from(tool),
            _ => Value::Null,
        };
        [
            Value::from(kind.word()),
            tool,
            when(kind == Kind::Resource, named),
            when(kind == Kind::Prompt, named),
            Value::from(self.args),
            Value::from(self.caller),
            Value::from(self.client),
            Value::from(self.roots),
            Value::Timestamp(self.now),
        ]
    }

    /// The resource or prompt as an object.
    pub(crate) fn named(&self) -> Json {
        match self.subject {
            Subject::Tool(_) => Json::Null,
            Subject::Resource(uri) => json!({ "uri": uri }),
            Subject::Prompt(name) => json!({ "name": name }),
        }
    }
}

/// What is known about the caller.
#[derive(Debug, Clone, Copy)]
pub struct CallerFacts<'a> {
    pub name: &'a str,
    pub groups: &'a [Box<str>],
    pub scopes: &'a [Box<str>],
    pub claims: &'a Map<String, Json>,
    pub known_by: &'a str,
    /// Empty if it has none.
    pub address: &'a str,
}

impl CallerFacts<'_> {
    pub fn json(&self) -> Json {
        json!({
            "name": self.name,
            "groups": self.groups,
            "scopes": self.scopes,
            "claims": self.claims,
            "known_by": self.known_by,
            "address": self.address,
        })
    }
}

/// A tool as rules see it. The four hints are always there, with the defaults of the protocol, so that a rule about one of
/// them also holds for a tool that does not mention it.
pub fn tool_facts(
    name: &str,
    title: Option<&str>,
    path: &str,
    annotations: Option<&str>,
    meta: Option<&str>,
) -> Json {
    let object = |text: Option<&str>| -> Map<String, Json> {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    };
    let (mut annotations, meta) = (object(annotations), object(meta));
    let hint = |name: &str, default: bool| annotations.get(name).and_then(Json::as_bool).unwrap_or(default);
    let only_reads = hint("readOnlyHint", false);
    let hints = [
        ("readOnlyHint", only_reads),
        // What only reads destroys nothing.
        ("destructiveHint", !only_reads && hint("destructiveHint", true)),
        ("idempotentHint", hint("idempotentHint", false)),
        ("openWorldHint", hint("openWorldHint", true)),
    ];
    annotations.extend(hints.map(|(name, hint)| (name.to_owned(), hint.into())));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let tags = meta.get("tags").filter(|tags| tags.is_array()).cloned().unwrap_or_else(|| json!([]));
    json!({
        "name": name,
        "title": title.unwrap_or_default(),
        "annotations": annotations,
        "tags": tags,
        "folder": folder,
        "meta": meta,
    })
}
