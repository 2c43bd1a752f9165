//! The problems of an entry, each with its place.

use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(super) struct Found(pub(super) Vec<String>);

impl Found {
    pub(super) fn add(&mut self, place: &str, problem: &str) {
        self.0.push(format!("server.json: `{place}`: {problem}"));
    }

    /// The items of a list that may be missing.
    pub(super) fn list<'e>(&mut self, place: &str, value: Option<&'e Value>) -> &'e [Value] {
        match value {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.add(place, "expected a list");
                &[]
            }
        }
    }

    /// The members of an object, whose keys must be known: a misspelled `isSecret` must not be lost.
    pub(super) fn members<'e>(
        &mut self,
        place: &str,
        value: &'e Value,
        known: &[&[&str]],
    ) -> Option<&'e Map<String, Value>> {
        let Some(members) = value.as_object() else {
            self.add(place, "expected an object");
            return None;
        };
        for key in members.keys().filter(|key| !known.concat().contains(&key.as_str())) {
            self.add(place, &format!("the key `{key}` is not known"));
        }
        Some(members)
    }
}
