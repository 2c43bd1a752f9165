//! Environment mode: how much of our own environment scripts see.

use crate::given::Source;
use crate::kind::{Flag, Names, Word};
use crate::reader::Reader;
use crate::row::Row;
use crate::table;
use crate::words::Mode;

/// How much of our own environment scripts see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentMode {
    /// The variables that every program needs, and our own.
    Minimal,
    /// These variables as well.
    Allowlist(Vec<String>),
    /// All of it.
    Inherit,
    /// No script is run, for this reason: more was asked for than is allowed, and less is not what was meant.
    Refused(String),
}

impl EnvironmentMode {
    /// The mode of tools and of all other scripts except providers.
    pub(crate) fn of_tools(reader: &mut Reader<'_>) -> Self {
        let rows = (&table::TOOL_ENV_MODE, &table::TOOL_ENV_ALLOWLIST, &table::TOOL_ENV_INHERIT_ALLOW);
        Self::from_rows(reader, rows)
    }

    /// The mode of the project's own providers.
    pub(crate) fn of_providers(reader: &mut Reader<'_>) -> Self {
        let rows =
            (&table::PROVIDER_ENV_MODE, &table::PROVIDER_ENV_ALLOWLIST, &table::PROVIDER_ENV_INHERIT_ALLOW);
        Self::from_rows(reader, rows)
    }

    fn from_rows(
        reader: &mut Reader<'_>,
        (mode, list, inherit): (&'static Row<Word<Mode>>, &'static Row<Names>, &'static Row<Flag>),
    ) -> Self {
        let (wanted, names, may_inherit) = (reader.value(mode), reader.value(list), reader.value(inherit));
        match wanted {
            // A list of variables is meant to have an effect, unless another mode is set explicitly.
            Mode::Minimal if !names.is_empty() && !reader.is_set(mode) && !reader.is_refused(mode) => {
                reader.overrule(mode, "allowlist", Source::Variable(list.name));
                Self::Allowlist(names)
            }
            Mode::Minimal => Self::Minimal,
            Mode::Allowlist => Self::Allowlist(names),
            Mode::Inherit if may_inherit => Self::Inherit,
            Mode::Inherit => {
                let problem = format!("is `inherit`, which needs {}=true as well", inherit.name);
                let why = format!("{} {problem}", mode.name);
                reader.report(mode, format!("{problem}; until then no script is run"));
                Self::Refused(why)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn read(given: &[(&str, &str)]) -> (EnvironmentMode, Vec<String>) {
        let lookup =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let mut reader = Reader::new(&lookup);
        let mode = EnvironmentMode::of_providers(&mut reader);
        (mode, reader.problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn all_of_the_environment_is_passed_on_only_where_that_is_allowed_as_well() {
        let mode = ("MCPBASH_PROVIDER_ENV_MODE", "inherit");
        let refused = "MCPBASH_PROVIDER_ENV_MODE is `inherit`, which needs \
                       MCPBASH_PROVIDER_ENV_INHERIT_ALLOW=true as well";
        let problem = format!("{refused}; until then no script is run");
        assert_eq!(read(&[mode]), (EnvironmentMode::Refused(refused.to_owned()), vec![problem]));
        let allowed = ("MCPBASH_PROVIDER_ENV_INHERIT_ALLOW", "true");
        assert_eq!(read(&[mode, allowed]), (EnvironmentMode::Inherit, vec![]));
    }

    #[test]
    fn other_words_leave_the_least_of_it() {
        let (mode, problems) = read(&[("MCPBASH_PROVIDER_ENV_MODE", "everything")]);
        assert_eq!(mode, EnvironmentMode::Minimal);
        let said = "MCPBASH_PROVIDER_ENV_MODE must be `isolate`, `allowlist` or `inherit`, not `everything`; \
                    `isolate` is used";
        assert_eq!(problems, [said]);
    }

    #[test]
    fn a_list_selects_its_own_mode_unless_another_is_named() {
        let list = ("MCPBASH_PROVIDER_ENV_ALLOWLIST", "A,B");
        let names = vec!["A".to_owned(), "B".to_owned()];
        assert_eq!(
            read(&[("MCPBASH_PROVIDER_ENV_MODE", "allowlist"), list]).0,
            EnvironmentMode::Allowlist(names.clone())
        );
        assert_eq!(read(&[list]).0, EnvironmentMode::Allowlist(names));
        for mode in ["isolate", "everything"] {
            let given = [list, ("MCPBASH_PROVIDER_ENV_MODE", mode)];
            assert_eq!(read(&given).0, EnvironmentMode::Minimal, "{mode}");
        }
    }
}
