//! Errors of a mapping.

use serde_json::Value;
use thiserror::Error;

/// Why a mapping cannot be used. The text after the last `; ` is the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum MappingError {
    /// `cause` is one of the errors about a single word or text, whose messages complete "`argv[2]` ...".
    #[error("`{place}` {cause}")]
    At { place: String, cause: Box<Self> },
    #[error(
        "cannot be read: `{0}`; an argument is written {{name}}, each element of a list {{name...}}, and a brace itself {{{{ or }}}}"
    )]
    Braces(String),
    #[error("spreads two lists in one word, `{0}`; give each a word of its own")]
    TwoLists(String),
    #[error("cannot spread a list; {{{0}}} is the list as JSON")]
    SpreadInText(String),
    #[error("is repeated for each element, so that {{{0}...}} has nothing to spread; write {{{0}}}")]
    SpreadTwice(String),
    #[error("is no word; YAML wants quotes around an argument: \"{{{0}}}\"")]
    Unquoted(String),
    #[error(
        "cannot be read: {0}; it must be a word (\"--depth={{depth}}\"), a group of words ([\"--name\", \"{{name}}\"]), \
         {{\"flag\": \"--all\", \"if\": \"all\"}}, or {{\"word\": \"{{x}}\", \"allowDash\": true}}"
    )]
    NotAWord(Value),
    #[error("`{key}`: {problem}")]
    NotJson { key: &'static str, problem: String },
    #[error("`{key}` must be a list of words{}", rewritten(value))]
    NotAList { key: &'static str, value: Value },
    #[error(
        "`{key}` has the word `{prefix}{{…}}`, in which a caller would choose the option; write the option out \
         (\"--depth={{depth}}\"), or one {{\"flag\": …, \"if\": …}} for each"
    )]
    OpenOption { key: &'static str, prefix: String },
    #[error(
        "`{key}` has the word `{word}`, which {meaning} in a shell, and no shell reads it: the program would receive it as it \
         is; put the command into a script (tools/NAME/tool.sh, with the arguments as $1, $2, …) and its arguments into `argv`"
    )]
    ShellWord { key: &'static str, word: String, meaning: &'static str },
    #[error(
        "`env[{index}]` must be the name of a variable, or an object of values: {{\"DEPTH\": \"{{depth}}\"}}"
    )]
    NeitherNameNorValues { index: usize },
    #[error("`env` has {0} twice; a variable comes from the server's environment or has one value")]
    NamedTwice(String),
    #[error("`env` has the name {0:?}, which no variable can have")]
    VariableName(String),
    #[error("`env` must not set `{0}`: these names are the server's own; choose another")]
    OwnVariable(String),
    #[error(
        "`env` would let a caller set `{0}`, which decides what code is run; choose another name, or a fixed value, {SAFE}"
    )]
    DecidingVariable(String),
    #[error("`{key}` would have `{reader}` read a value as code; {remedy}, {SAFE}")]
    Code { key: &'static str, reader: &'static str, remedy: &'static str },
    #[error(
        "`{key}` uses the argument `{name}`, which `inputSchema` does not have ({}); correct one of the two",
        listed(known)
    )]
    UnknownArgument { key: &'static str, name: String, known: Vec<String> },
    #[error(
        "`{key}` uses `{name}` as {used}, and `inputSchema` says its type is \"{declared}\"; correct one of the two"
    )]
    OtherType { key: &'static str, name: String, used: &'static str, declared: String },
    #[error(
        "`{key}` uses `{name}` in a word that is always there, and `inputSchema` does not require it; put the word in \
         brackets with its flag to leave both out ([\"--{name}\", \"{{{name}}}\"]), name it in `required`, or give it a \
         `default`"
    )]
    NotRequired { key: &'static str, name: String },
    #[error("`unrestrictedArguments` names `{0}`, which nothing uses; correct the name")]
    UnusedExemption(String),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Several(Vec<Self>),
    /// A rule whose message needs no data.
    #[error("{0}")]
    Rule(&'static str),
}

/// The fixes that help wherever a value could be code.
const SAFE: &str = "list what it can be with `enum`, or say in `unrestrictedArguments` why any text is safe";

impl From<&'static str> for MappingError {
    fn from(rule: &'static str) -> Self {
        Self::Rule(rule)
    }
}

impl MappingError {
    pub(super) fn not_json(key: &'static str) -> impl FnOnce(serde_json::Error) -> Self {
        move |error| Self::NotJson { key, problem: error.to_string() }
    }

    /// Names the place of a word or text that an error is about.
    pub(super) fn at(place: String) -> impl FnOnce(Self) -> Self {
        |cause| Self::At { place, cause: Box::new(cause) }
    }
}

/// A command written as one text, rewritten as words.
fn rewritten(value: &Value) -> String {
    let Some(text) = value.as_str() else { return String::new() };
    let words: Vec<&str> = text.split_whitespace().collect();
    format!(", since no shell reads it: {}", Value::from(words))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "it has none".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("it has {}", names.join(", "))
}
