//! Log fields: the only content of an event about a request: names from the project, numbers, fixed texts, and what clients say
//! about themselves. So no event can contain an argument, a result or script output.

use crate::callers::Caller;
use mcp_bash_project::{Collection, Prompt, Resource, Tool};
use mcp_bash_scripts::ScriptError;
use serde_json::{Map, Number, Value};

/// The most characters that are logged of a text from a client.
const LONGEST: usize = 80;

#[derive(Debug, Default)]
pub(crate) struct Facts(Map<String, Value>);

impl Facts {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn of_tool(tool: &Tool) -> Self {
        Self::default().with("tool", tool.name.clone().into())
    }

    pub(crate) fn of_prompt(prompt: &Prompt) -> Self {
        Self::default().with("prompt", prompt.name.clone().into())
    }

    /// The name of a resource, or only the scheme of a URI that the project does not list: its rest is an argument.
    pub(crate) fn of_resource(resources: &Collection<Resource>, uri: &str) -> Self {
        let listed = resources.items().iter().find(|resource| resource.uri == uri);
        match (listed, uri.split_once(':')) {
            (Some(resource), _) => Self::default().with("resource", resource.about.name.clone().into()),
            (None, Some((scheme, _))) => Self::default().by_client("scheme", scheme),
            (None, None) => Self::default(),
        }
    }

    pub(crate) fn of_caller(caller: &Caller) -> Self {
        Self::default().with("caller", caller.name().into())
    }

    pub(crate) fn number(self, name: &'static str, number: impl Into<Number>) -> Self {
        self.with(name, Value::Number(number.into()))
    }

    pub(crate) fn words(self, name: &'static str, words: &'static str) -> Self {
        self.with(name, words.into())
    }

    pub(crate) fn is(self, name: &'static str) -> Self {
        self.with(name, true.into())
    }

    /// Why a script was not run.
    pub(crate) fn script_error(self, error: &ScriptError) -> Self {
        self.with("error", error.kind().into())
    }

    /// The location of a violated schema keyword.
    pub(crate) fn rule(self, rule: &SchemaRule) -> Self {
        self.with("rule", rule.0.clone().into())
    }

    /// The deciding rule of the project's policy.
    pub(crate) fn policy_rule(self, rule: &str) -> Self {
        self.with("rule", rule.into())
    }

    /// A text from the client: its name, a version, a method, an id. It is truncated.
    pub(crate) fn by_client(self, name: &'static str, said: &str) -> Self {
        let mut cut: String = said.chars().take(LONGEST).collect();
        if cut.len() < said.len() {
            cut.push('…');
        }
        self.with(name, cut.into())
    }

    /// The fields as JSON.
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    fn with(mut self, name: &'static str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }
}

/// A location in a schema. The tool's author wrote it, so it contains no value of a call.
#[derive(Debug)]
pub(crate) struct SchemaRule(String);

impl SchemaRule {
    /// The violated location.
    pub(crate) fn broken_by(problem: &mcp_bash_schema::Problem) -> Option<Self> {
        problem.rule().map(|rule| Self(rule.to_owned()))
    }
}
