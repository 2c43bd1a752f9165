//! Reads rows one after the other, and remembers what is in force and what is wrong.

use crate::kind::Kind;
use crate::problem::SettingProblem;
use crate::project::ProjectSettings;
use crate::row::{Reading, Row};
use crate::settings::Settings;
use crate::table::TABLE;
use std::ffi::OsString;

/// The value of a variable.
pub(crate) type Lookup<'l> = &'l dyn Fn(&str) -> Option<OsString>;

/// What people set: by variables, and in the project.
#[derive(Clone, Copy)]
pub(crate) struct Given<'l> {
    pub(crate) variables: Lookup<'l>,
    pub(crate) project: Option<&'l ProjectSettings>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Nobody set anything, or nothing that could be used.
    Default,
    /// A variable: most often the setting's own, or another that decides for it.
    Variable(&'static str),
    /// The project's own settings, in `server.d/server.meta.json`.
    Project,
}

/// What is in force for one setting. A secret is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    pub name: &'static str,
    pub value: String,
    pub source: Source,
}

/// What is in force for each setting, in the order of the table, where `lookup` knows the variables.
pub fn in_force(lookup: impl Fn(&str) -> Option<OsString>) -> impl Iterator<Item = InForce> {
    let mut reader = Reader::new(&lookup);
    // For what the reader remembers of it.
    let _ = Settings::from_rows(&mut reader);
    let mut values = reader.in_force;
    values.sort_by_key(|value| TABLE.iter().position(|setting| setting.name() == value.name));
    values.into_iter()
}

pub(crate) struct Reader<'l> {
    given: Given<'l>,
    pub(crate) problems: Vec<SettingProblem>,
    in_force: Vec<InForce>,
}

impl<'l> Reader<'l> {
    pub(crate) fn new(variables: Lookup<'l>) -> Self {
        Self::with_project(variables, None)
    }

    /// The same with what a project sets.
    pub(crate) fn with_project(variables: Lookup<'l>, project: Option<&'l ProjectSettings>) -> Self {
        let given = Given { variables, project };
        Self { given, problems: Vec::new(), in_force: Vec::with_capacity(TABLE.len()) }
    }

    pub(crate) fn value<K: Kind>(&mut self, row: &'static Row<K>) -> K::Value {
        let Reading { value, shown, source, problem } = row.read(self.given);
        self.problems.extend(problem);
        self.in_force.push(InForce { name: row.name, value: shown, source });
        value
    }

    /// Whether the value of a row that was read comes from its own variable, or from the project.
    pub(crate) fn is_set<K: Kind>(&self, row: &Row<K>) -> bool {
        let own = [Source::Variable(row.name), Source::Project];
        self.in_force.iter().any(|read| read.name == row.name && own.contains(&read.source))
    }

    /// Whether something is wrong with the value of a row that was read.
    pub(crate) fn is_refused<K: Kind>(&self, row: &Row<K>) -> bool {
        self.problems.iter().any(|problem| problem.name == row.name)
    }

    /// Says that another value counts than the one that was read, and what decides that.
    pub(crate) fn overrule<K: Kind>(&mut self, row: &Row<K>, value: &str, source: Source) {
        for read in self.in_force.iter_mut().filter(|read| read.name == row.name) {
            (read.value, read.source) = (value.to_owned(), source);
        }
    }

    /// Says what is wrong with a value that was read because of another one.
    pub(crate) fn report<K: Kind>(&mut self, row: &Row<K>, problem: String) {
        self.problems.push(SettingProblem { name: row.name, problem, fatal: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(given: &[(&str, &str)], name: &str) -> (String, Source) {
        let lookup =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let found = in_force(lookup).find(|setting| setting.name == name).unwrap();
        (found.value, found.source)
    }

    #[test]
    fn every_row_is_read_once() {
        let read: Vec<_> = in_force(|_| None).map(|setting| setting.name).collect();
        let rows: Vec<_> = TABLE.iter().map(|setting| setting.name()).collect();
        assert_eq!(read, rows);
    }

    #[test]
    fn what_is_in_force_is_said_with_its_source() {
        let given = [("MCPBASH_MAX_PROGRESS_PER_MIN", "7"), ("MCPBASH_HTTPS_TIMEOUT", "100")];
        let progress = Source::Variable("MCPBASH_MAX_PROGRESS_PER_MIN");
        assert_eq!(found(&given, "MCPBASH_MAX_LOGS_PER_MIN"), ("7".to_owned(), progress));
        assert_eq!(found(&given, "MCPBASH_HTTPS_TIMEOUT").0, "60");
        assert_eq!(found(&given, "MCPBASH_MAX_JSON_DEPTH"), ("100".to_owned(), Source::Default));
    }

    #[test]
    fn what_another_setting_decides_is_said_to_come_from_there() {
        let ci = [("MCPBASH_CI_MODE", "1")];
        for name in ["MCPBASH_IDLE_TIMEOUT_ENABLED", "MCPBASH_ORPHAN_CHECK_ENABLED"] {
            assert_eq!(found(&ci, name), ("false".to_owned(), Source::Variable("MCPBASH_CI_MODE")));
        }
        let listed = [("MCPBASH_TOOL_ENV_ALLOWLIST", "A")];
        let by_list = Source::Variable("MCPBASH_TOOL_ENV_ALLOWLIST");
        assert_eq!(found(&listed, "MCPBASH_TOOL_ENV_MODE"), ("allowlist".to_owned(), by_list));
        let mistaken = [("MCPBASH_TOOL_ALLOW_DEFAULT", "none")];
        let own = Source::Variable("MCPBASH_TOOL_ALLOW_DEFAULT");
        assert_eq!(found(&mistaken, "MCPBASH_TOOL_ALLOW_DEFAULT"), ("deny".to_owned(), own));
    }

    #[test]
    fn a_secret_is_never_shown() {
        for secret in ["a-weak-one", "a-secret-of-more-than-32-characters"] {
            let given = [("MCPBASH_REMOTE_TOKEN", secret)];
            let lookup = |name: &str| (name == given[0].0).then(|| OsString::from(secret));
            assert!(in_force(lookup).all(|setting| !format!("{setting:?}").contains(secret)));
            assert_eq!(found(&given, "MCPBASH_REMOTE_TOKEN").0, "(not shown)");
        }
    }
}
