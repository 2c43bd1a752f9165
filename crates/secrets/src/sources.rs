//! Sources of all secrets: the entries of the operator and of the project by the names of secrets.

use crate::error::{SecretError, SourceError};
use crate::name::is_secret_name;
use crate::needs::Need;
use crate::source::{Author, Source, usual};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The entries of one author. An entry that cannot be used is kept as its error, so that its secret is not looked for
/// elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    by_name: BTreeMap<String, Result<Source, SourceError>>,
}

impl Sources {
    /// Reads entries by the names of secrets.
    pub fn parse(entries: &Map<String, Value>, author: Author) -> Self {
        let source = |name: &String, entry| match is_secret_name(name) {
            true => Source::parse(entry, author),
            false => Err(SourceError::Name(name.clone())),
        };
        Self { by_name: entries.iter().map(|(name, entry)| (name.clone(), source(name, entry))).collect() }
    }

    pub fn get(&self, name: &str) -> Option<&Result<Source, SourceError>> {
        self.by_name.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The entries that cannot be used.
    pub fn wrong(&self) -> impl Iterator<Item = (&str, &SourceError)> {
        self.by_name.iter().filter_map(|(name, source)| Some((name.as_str(), source.as_ref().err()?)))
    }

    /// The sources that can be used.
    pub fn usable(&self) -> impl Iterator<Item = &Source> {
        self.by_name.values().filter_map(|source| source.as_ref().ok())
    }
}

/// Where a secret is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// In this order.
    pub sources: Vec<Source>,
    /// Who named them; `None` for the usual places.
    pub author: Option<Author>,
}

impl Places {
    /// The places of a secret that a script needs: as the operator says, else as the project says, else the usual ones.
    pub fn of(need: &Need, operator: &Sources, project: &Sources) -> Result<Self, SecretError> {
        for (sources, author) in [(operator, Author::Operator), (project, Author::Project)] {
            if let Some(source) = sources.get(&need.name) {
                let wrong = |why: SourceError| SecretError::Source { name: need.name.clone(), why };
                let source = source.clone().map_err(wrong)?;
                return Ok(Self { sources: vec![source], author: Some(author) });
            }
        }
        Ok(Self { sources: usual(&need.variable, &need.name), author: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Needs;
    use serde_json::json;

    fn places(operator: &Value, project: &Value) -> Result<Places, SecretError> {
        let needs = Needs::parse(r#"{"GITHUB_TOKEN": "github"}"#).unwrap();
        let operator = Sources::parse(operator.as_object().unwrap(), Author::Operator);
        let project = Sources::parse(project.as_object().unwrap(), Author::Project);
        Places::of(needs.iter().next().unwrap(), &operator, &project)
    }

    #[test]
    fn the_operator_comes_before_the_project_and_the_project_before_the_usual_places() {
        let project = json!({"github": {"env": "B"}});
        let of_operator = places(&json!({"github": {"env": "A"}}), &project).unwrap();
        assert_eq!(of_operator.sources, [Source::Variable("A".into())]);
        assert_eq!(places(&json!({}), &project).unwrap().sources, [Source::Variable("B".into())]);
        let usual = places(&json!({}), &json!({"gitlab": {"env": "C"}})).unwrap();
        let words: Vec<_> = usual.sources.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "variable GITHUB_TOKEN",
                "file in GITHUB_TOKEN_FILE",
                "systemd credential github",
                "file /run/secrets/github"
            ]
        );
    }

    #[test]
    fn a_wrong_entry_is_an_error_and_no_other_place_is_tried() {
        let error = places(&json!({}), &json!({"github": "ghp_0123456789"})).unwrap_err().to_string();
        assert!(
            error.contains("`github`") && error.contains("it is a value") && !error.contains("ghp_"),
            "{error}"
        );
        assert!(places(&json!({"github": {"file": "x"}}), &json!({"github": {"env": "B"}})).is_err());
    }
}
