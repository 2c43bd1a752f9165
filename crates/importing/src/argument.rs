//! An argument of a tool, and its part of the schema.

use serde_json::{Value, json};

/// What a text may be that ends up in a shell command: words that no shell and no make interprets, none of which begins with
/// `-`, with single spaces between them.
pub const HARMLESS: &str = concat!(
    r#"^([^-\s"'`$\\&|;<>()\[\]{}*?!#~][^\s"'`$\\&|;<>()\[\]{}*?!#~]*"#,
    r#"( [^-\s"'`$\\&|;<>()\[\]{}*?!#~][^\s"'`$\\&|;<>()\[\]{}*?!#~]*)*)?$"#
);

/// A text that no program takes for an option.
pub(crate) const NO_OPTION: &str = "^([^-]|$)";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    pub description: String,
    pub kind: Kind,
    pub is_required: bool,
    /// What it is where it is absent, if whoever is called has to be told.
    pub default: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Text {
        pattern: Option<&'static str>,
    },
    Integer,
    Number,
    Boolean,
    OneOf(Vec<String>),
    /// Texts, or some of these choices.
    List {
        choices: Vec<String>,
        pattern: Option<&'static str>,
    },
}

impl Argument {
    pub(crate) fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), description: String::new(), kind, is_required: false, default: None }
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List { .. })
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

impl Kind {
    /// The name of the type, as a person reads it.
    pub fn words(&self) -> String {
        match self {
            Self::Text { .. } => "text".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::OneOf(choices) => choices.join("|"),
            Self::List { choices, .. } if !choices.is_empty() => format!("list of {}", choices.join("|")),
            Self::List { .. } => "list of texts".to_owned(),
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Text { pattern } => text(*pattern),
            Self::Integer => json!({ "type": "integer" }),
            Self::Number => json!({ "type": "number" }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::OneOf(choices) => json!({ "type": "string", "enum": choices }),
            Self::List { choices, .. } if !choices.is_empty() => {
                json!({ "type": "array", "items": { "type": "string", "enum": choices } })
            }
            Self::List { pattern, .. } => json!({ "type": "array", "items": text(*pattern) }),
        }
    }
}

fn text(pattern: Option<&str>) -> Value {
    match pattern {
        Some(pattern) => json!({ "type": "string", "pattern": pattern }),
        None => json!({ "type": "string" }),
    }
}
