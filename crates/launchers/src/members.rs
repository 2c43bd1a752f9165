//! Members of a launcher's object, read by name, with a refusal that names the key.

use crate::error::LauncherError;
use serde_json::{Map, Value};

#[derive(Clone, Copy)]
pub(crate) struct Members<'a>(pub(crate) &'a Map<String, Value>);

impl Members<'_> {
    /// Refuses keys that a launcher does not have.
    pub(crate) fn only(self, known: &[&'static str]) -> Result<(), LauncherError> {
        let Some(key) = self.0.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        let meant = mcp_bash_spelling::nearest(key, known.iter().copied()).map(str::to_owned);
        let known = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        Err(LauncherError::Key { key: key.clone(), meant, known })
    }

    /// A text, if there is one.
    pub(crate) fn text(self, key: &'static str) -> Result<Option<String>, LauncherError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if is_word(text) => Ok(Some(text.clone())),
            Some(_) => Err(LauncherError::Value { key, wanted: "a text that is not empty" }),
        }
    }

    /// A value that becomes a word of its own on a command line: nothing that a program could take for an option.
    pub(crate) fn operand(self, key: &'static str) -> Result<Option<String>, LauncherError> {
        let Some(value) = self.text(key)? else { return Ok(None) };
        if value.starts_with('-') {
            return Err(LauncherError::Option { key, value });
        }
        if value.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(LauncherError::Blank { key, value: value.escape_debug().to_string() });
        }
        Ok(Some(value))
    }

    /// The same for a value that must be there.
    pub(crate) fn required(self, key: &'static str, name: &str) -> Result<String, LauncherError> {
        self.operand(key)?.ok_or_else(|| LauncherError::Missing { key, name: format!("`{name}`") })
    }

    /// A list of words, if there is one.
    pub(crate) fn list(self, key: &'static str) -> Result<Option<Vec<String>>, LauncherError> {
        let wrong = || LauncherError::Value { key, wanted: "a list of words, each a text that is not empty" };
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(words)) => {
                let words = words.iter().map(|word| word.as_str().filter(|word| is_word(word)));
                let words: Option<Vec<_>> = words.map(|word| word.map(str::to_owned)).collect();
                words.map(Some).ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}
