//! Effective settings, and where they come from.

use crate::given::InForce;
use crate::project::ProjectSettings;
use crate::reader::Reader;
use crate::settings::Settings;
use crate::table::TABLE;
use std::ffi::OsString;

/// The effective value of each setting, in the order of the table. `lookup` returns the variables.
pub fn in_force(lookup: impl Fn(&str) -> Option<OsString>) -> impl Iterator<Item = InForce> {
    in_force_with_project(lookup, &ProjectSettings::default()).into_iter()
}

/// The same, including what a project sets itself.
pub fn in_force_with_project(
    lookup: impl Fn(&str) -> Option<OsString>,
    project: &ProjectSettings,
) -> Vec<InForce> {
    let mut reader = Reader::with_project(&lookup, Some(project.values()));
    // For what the reader remembers.
    let _ = Settings::from_rows(&mut reader);
    let mut values = reader.in_force;
    values.sort_by_key(|value| TABLE.iter().position(|setting| setting.name() == value.name));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::Source;

    fn found(given: &[(&str, &str)], name: &str) -> (String, Source) {
        let lookup =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let found = in_force(lookup).find(|setting| setting.name == name).unwrap();
        (found.value.into_owned(), found.source)
    }

    #[test]
    fn every_row_is_read_once() {
        let read: Vec<_> = in_force(|_| None).map(|setting| setting.name).collect();
        let rows: Vec<_> = TABLE.iter().map(|setting| setting.name()).collect();
        assert_eq!(read, rows);
    }

    #[test]
    fn effective_settings_are_shown_with_their_source() {
        let given = [("MCPBASH_MAX_PROGRESS_PER_MIN", "7"), ("MCPBASH_HTTPS_TIMEOUT", "100")];
        let progress = Source::Variable("MCPBASH_MAX_PROGRESS_PER_MIN");
        assert_eq!(found(&given, "MCPBASH_MAX_LOGS_PER_MIN"), ("7".to_owned(), progress));
        assert_eq!(found(&given, "MCPBASH_HTTPS_TIMEOUT").0, "60");
        assert_eq!(found(&given, "MCPBASH_MAX_JSON_DEPTH"), ("100".to_owned(), Source::Default));
    }

    #[test]
    fn settings_derived_from_another_name_it_as_their_source() {
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
    fn settings_of_the_project_name_it_as_their_source() {
        let written = serde_json::json!({ "maxJsonDepth": 50 });
        let (project, _) = ProjectSettings::new(written.as_object().unwrap());
        let found = in_force_with_project(|_| None, &project)
            .into_iter()
            .find(|found| found.source == Source::Project);
        assert_eq!(
            found.map(|found| (found.name, found.value)),
            Some(("MCPBASH_MAX_JSON_DEPTH", "50".into()))
        );
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
