//! Tool argument, and its part of the schema.

use mcp_bash_hazards::HARMLESS;
use serde_json::{Value, json};

/// What [`HARMLESS`] allows, in words.
const HARMLESS_WORDS: &str = "letters, digits and _ . / : @ + , -";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    pub description: String,
    pub kind: ArgumentKind,
    pub is_required: bool,
    /// Its default, if the callee has to receive one.
    pub default: Option<String>,
    /// The optional argument before it, without which it would take its place.
    pub follows: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    Text,
    /// A text of harmless characters, because a shell or another program may interpret others.
    HarmlessText,
    /// A text without a line end, because each line is an answer of its own.
    Line,
    Integer,
    Number,
    Boolean,
    OneOf(Vec<String>),
    /// Some of these choices; any texts, if there are none.
    List(Vec<String>),
    HarmlessList,
    Integers,
}

impl Argument {
    pub(crate) fn new(name: impl Into<String>, kind: ArgumentKind) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            kind,
            is_required: false,
            default: None,
            follows: None,
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        self.kind.is_list()
    }

    pub(crate) fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        if !self.description.is_empty() {
            schema["description"] = self.description.clone().into();
        }
        if let Some(default) = &self.default {
            schema["default"] = default.clone().into();
        }
        if self.is_required && self.is_list() {
            schema["minItems"] = 1.into();
        }
        schema
    }
}

impl ArgumentKind {
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::List(_) | Self::HarmlessList | Self::Integers)
    }

    /// The same with harmless characters only, if it allows any text.
    pub(crate) fn harmless(self) -> Self {
        match self {
            Self::Text | Self::Line => Self::HarmlessText,
            Self::List(choices) if choices.is_empty() => Self::HarmlessList,
            other => other,
        }
    }

    /// The name of the type, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::HarmlessText => format!("text of {HARMLESS_WORDS}"),
            Self::Line => "line of text".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::OneOf(choices) => choices.join("|"),
            Self::List(choices) if !choices.is_empty() => format!("list of {}", choices.join("|")),
            Self::List(_) => "list of texts".to_owned(),
            Self::HarmlessList => format!("list of texts of {HARMLESS_WORDS}"),
            Self::Integers => "list of integers".to_owned(),
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::HarmlessText => json!({ "type": "string", "pattern": HARMLESS }),
            Self::Line => json!({ "type": "string", "pattern": "^[^\\n\\r]*$" }),
            Self::Integer => json!({ "type": "integer" }),
            Self::Number => json!({ "type": "number" }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::OneOf(choices) => json!({ "type": "string", "enum": choices }),
            Self::List(choices) if !choices.is_empty() => {
                json!({ "type": "array", "items": { "type": "string", "enum": choices } })
            }
            Self::List(_) => json!({ "type": "array", "items": Self::Text.schema() }),
            Self::HarmlessList => json!({ "type": "array", "items": Self::HarmlessText.schema() }),
            Self::Integers => json!({ "type": "array", "items": Self::Integer.schema() }),
        }
    }
}
