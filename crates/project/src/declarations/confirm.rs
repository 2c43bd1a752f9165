//! `confirm`: which tools run only after a person has consented, and what that person is asked.

use crate::declarations::error::{EntryError, wrong_value};
use crate::declarations::mapping::Template;
use crate::declarations::mapping::error::MappingError;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The longest question of an author, in characters: a person has to read it.
const LONGEST: usize = 1000;

/// What a tool declares about consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirm {
    /// It never asks, whatever the project says.
    No,
    Yes,
    /// It asks with a question of its own.
    Question(Question),
}

/// A question with placeholders for arguments, such as `Delete {path}?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    written: String,
    pub template: Template,
}

impl Confirm {
    /// Reads the key of a tool's metadata. A value that cannot be used is an error: what was meant as a restriction must not
    /// end as none.
    pub(crate) fn read(field: Option<&RawValue>) -> Result<Option<Self>, EntryError> {
        let Some(field) = field else { return Ok(None) };
        match serde_json::from_str(field.get()) {
            Ok(Value::Null) => Ok(None),
            Ok(Value::Bool(false)) => Ok(Some(Self::No)),
            Ok(Value::Bool(true)) => Ok(Some(Self::Yes)),
            Ok(Value::String(written)) => Question::parse(written).map(Self::Question).map(Some),
            _ => Err(wrong_value("confirm", WANTED, "another value", "; correct it")),
        }
    }

    /// The value as metadata has it, as JSON.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::No => "false".to_owned(),
            Self::Yes => "true".to_owned(),
            Self::Question(question) => Value::from(&*question.written).to_string(),
        }
    }

    /// Whether the question names only arguments that the tool has.
    pub(crate) fn check(&self, schema: &RawValue) -> Result<(), EntryError> {
        let Self::Question(question) = self else { return Ok(()) };
        let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
        let nothing = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&nothing);
        match question.template.arguments().find(|name| !properties.contains_key(*name)) {
            None => Ok(()),
            Some(unknown) => {
                let known = properties.keys().cloned().collect();
                let unknown = unknown.to_owned();
                Err(MappingError::UnknownArgument { key: "confirm", name: unknown, known }.into())
            }
        }
    }
}

const WANTED: &str = "be `true`, `false` or a question such as \"Delete {path}?\"";

impl Question {
    fn parse(written: String) -> Result<Self, EntryError> {
        let word = written.trim().to_ascii_lowercase();
        if matches!(&*word, "" | "true" | "false" | "yes" | "no") {
            let found = format!("`\"{}\"`", written.trim());
            return Err(wrong_value("confirm", WANTED, found, "; write true or false without quotes"));
        }
        if written.chars().nth(LONGEST).is_some() {
            let found = format!("{} characters", written.chars().count());
            return Err(wrong_value("confirm", "have at most 1000 characters", found, "; shorten it"));
        }
        Ok(Self { template: Template::parse(&written)?, written })
    }
}

/// Which tools of a project ask for consent, besides those that declare it themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfirmScope {
    /// No others.
    #[default]
    Declared,
    /// Those that may destroy something.
    Destructive,
    All,
}

impl ConfirmScope {
    /// Reads the key of `server.meta.json`. `Err` describes a value that cannot be used: then all tools ask.
    pub(crate) fn read(field: Option<&RawValue>) -> Result<Self, EntryError> {
        match field.map(RawValue::get) {
            None | Some("null" | "\"declared\"") => Ok(Self::Declared),
            Some("\"destructive\"") => Ok(Self::Destructive),
            Some("\"all\"") => Ok(Self::All),
            Some(_) => {
                let wanted = "be \"declared\", \"destructive\" or \"all\"";
                Err(wrong_value("confirm", wanted, "another value", "; correct it"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn read(text: &str) -> Result<Option<Confirm>, EntryError> {
        Confirm::read(Some(&raw(text)))
    }

    #[test]
    fn a_declaration_is_written_as_it_is_read() {
        assert_eq!(read("null").unwrap(), None);
        for text in ["true", "false", r#""Delete {path} in {env}?""#, r#""Sure? {{no}} \"x\"""#] {
            assert_eq!(read(text).unwrap().unwrap().written(), text);
        }
    }

    #[test]
    fn what_is_no_declaration_is_an_error() {
        for (text, words) in [
            ("1", "`confirm` must be `true`"),
            ("[]", "`confirm` must be `true`"),
            (r#""""#, "without quotes"),
            (r#"" Yes ""#, "without quotes"),
            (r#""Delete {path?""#, "a brace itself"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let long = format!("\"{}\"", "x".repeat(LONGEST + 1));
        assert!(read(&long).unwrap_err().to_string().contains("1001 characters"));
    }

    #[test]
    fn a_question_names_only_arguments_of_the_tool() {
        let schema = raw(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#);
        let check = |text: &str| read(text).unwrap().unwrap().check(&schema);
        assert!(check(r#""Delete {path}?""#).is_ok() && check("true").is_ok());
        let error = check(r#""Delete {pth}?""#).unwrap_err().to_string();
        assert!(error.contains("`confirm` uses the argument `pth`") && error.contains("path"), "{error}");
    }

    #[test]
    fn a_project_chooses_one_of_three_scopes() {
        let read = |text: &str| ConfirmScope::read(Some(&raw(text))).ok();
        assert_eq!(read(r#""destructive""#), Some(ConfirmScope::Destructive));
        assert_eq!(read(r#""all""#), Some(ConfirmScope::All));
        assert_eq!([read("null"), read(r#""declared""#)], [Some(ConfirmScope::Declared); 2]);
        assert_eq!((read("true"), read(r#""some""#)), (None, None));
    }
}
