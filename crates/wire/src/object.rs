//! Object view: reads a few members of a JSON object by name without building a tree.

use crate::{Raw, ScanError, Scanner};
use std::borrow::Cow;
use thiserror::Error;

/// The members of one object that its reader asked for. Others are skipped, which is all they cost.
#[derive(Debug)]
pub struct Object<'a, 'n> {
    names: &'n [&'n str],
    values: Vec<Option<Raw<'a>>>,
}

/// Why a member could not be read. The messages complete "invalid params: ...".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ObjectError {
    #[error("{0} must be an object, not {1}")]
    NotAnObject(&'static str, &'static str),
    #[error("`{0}` appears more than once")]
    Duplicate(String),
    #[error("`{0}` is missing")]
    Missing(String),
    #[error("`{name}` must be {expected}, not {found}")]
    WrongType { name: String, expected: &'static str, found: &'static str },
    #[error(transparent)]
    Scan(#[from] ScanError),
}

impl<'a, 'n> Object<'a, 'n> {
    /// Reads the members `names` of `raw`. `what` names the value in the error if it is not an object.
    pub fn read(raw: Raw<'a>, what: &'static str, names: &'n [&'n str]) -> Result<Self, ObjectError> {
        if !raw.is_object() {
            return Err(ObjectError::NotAnObject(what, raw.kind()));
        }
        Self::scan(&mut Scanner::again(raw), names)
    }

    /// Reads the members `names` of the object at the scanner's position.
    pub(crate) fn scan(scanner: &mut Scanner<'a>, names: &'n [&'n str]) -> Result<Self, ObjectError> {
        let mut values = vec![None; names.len()];
        let mut duplicate = None;
        scanner.members(|key, value| {
            let Some(key) = key.string() else { return };
            if let Some(place) = names.iter().position(|name| *name == key)
                && values[place].replace(value).is_some()
            {
                duplicate = Some(names[place].to_owned());
            }
        })?;
        match duplicate {
            Some(name) => Err(ObjectError::Duplicate(name)),
            None => Ok(Self { names, values }),
        }
    }

    /// A member as it was written. Only names given to [`Object::read`] can be found.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        let place = self.names.iter().position(|known| *known == name);
        debug_assert!(place.is_some(), "`{name}` was not asked for");
        self.values[place?]
    }

    /// A member that must exist and be a string.
    pub fn string(&self, name: &str) -> Result<Cow<'a, str>, ObjectError> {
        self.optional_string(name)?.ok_or_else(|| ObjectError::Missing(name.to_owned()))
    }

    /// A member that must be a string if it exists. `null` counts as absent.
    pub fn optional_string(&self, name: &str) -> Result<Option<Cow<'a, str>>, ObjectError> {
        self.optional(name, "a string", Raw::string)
    }

    /// A member that must be an object if it exists. `null` counts as absent.
    pub fn optional_object(&self, name: &str) -> Result<Option<Raw<'a>>, ObjectError> {
        self.optional(name, "an object", |raw| raw.is_object().then_some(raw))
    }

    fn optional<T>(
        &self,
        name: &str,
        expected: &'static str,
        read: impl FnOnce(Raw<'a>) -> Option<T>,
    ) -> Result<Option<T>, ObjectError> {
        let Some(raw) = self.get(name).filter(|raw| !raw.is_null()) else { return Ok(None) };
        let wrong = || ObjectError::WrongType { name: name.to_owned(), expected, found: raw.kind() };
        read(raw).map(Some).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Object<'_, 'static>, ObjectError> {
        Object::read(Raw::new(text), "params", &["name", "arguments"])
    }

    #[test]
    fn finds_members_whatever_their_spelling_and_order() {
        let object = read(r#"{"other": [1], "arguments" : {"n": 1.10}, "n\u0061me": "x\ty"}"#).unwrap();
        assert_eq!(object.string("name").unwrap(), "x\ty");
        assert_eq!(object.optional_object("arguments").unwrap().unwrap().text(), r#"{"n": 1.10}"#);
    }

    #[test]
    fn names_the_error() {
        assert_eq!(read("[1]").unwrap_err().to_string(), "params must be an object, not an array");
        assert_eq!(read("{}").unwrap().string("name").unwrap_err().to_string(), "`name` is missing");
        let wrong = read(r#"{"name": 5}"#).unwrap().string("name").unwrap_err();
        assert_eq!(wrong.to_string(), "`name` must be a string, not a number");
        let twice = read(r#"{"name": "a", "name": "b"}"#).unwrap_err();
        assert_eq!(twice.to_string(), "`name` appears more than once");
    }
}
