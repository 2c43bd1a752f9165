//! Audit settings: where the audit log goes, and what it has.

use crate::reader::Reader;
use crate::table;
use crate::tasks::TaskSettings;
use crate::words::RecordedArguments;
use mcp_bash_audit::{Destination, OnError, Options, Rotation};
use std::collections::BTreeMap;
use std::time::Duration;

/// Why lines cannot go where they are to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusableDestination {
    #[error(
        "MCPBASH_AUDIT_DURABLE is true, and lines that go to `{0}` cannot be made durable: name a file in MCPBASH_AUDIT, or \
         set MCPBASH_AUDIT_DURABLE=false"
    )]
    NotDurable(&'static str),
    #[error(
        "MCPBASH_AUDIT is `store`, and there is no database for it: set MCPBASH_STORE to the address of one, \
         `postgres://USER@HOST/DATABASE`, or name a file in MCPBASH_AUDIT"
    )]
    NoDatabase,
}

#[derive(Debug, Clone)]
pub struct AuditSettings {
    /// Where lines go. `None` if there is no audit log.
    pub destination: Option<Destination>,
    pub arguments: RecordedArguments,
    /// The arguments of tools that the project selects: they are recorded as they are.
    pub selected: BTreeMap<String, Vec<String>>,
    /// Whether answers wait until their lines are durable.
    pub durable: bool,
    pub on_error: OnError,
    pub rotation: Rotation,
}

impl AuditSettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        let destination = reader.value(&table::AUDIT);
        let hours = reader.value(&table::AUDIT_MAX_AGE) as u64;
        Self {
            destination: destination.and_then(|named| named_destination(&named)),
            arguments: reader.value(&table::AUDIT_ARGUMENTS),
            selected: BTreeMap::new(),
            durable: reader.value(&table::AUDIT_DURABLE),
            on_error: reader.value(&table::AUDIT_ON_ERROR),
            rotation: Rotation {
                max_bytes: reader.value(&table::AUDIT_MAX_BYTES) as u64,
                max_age: (hours > 0).then(|| Duration::from_secs(hours.saturating_mul(3600))),
                keep: u32::try_from(reader.value(&table::AUDIT_KEEP_FILES)).unwrap_or(u32::MAX),
            },
        }
    }

    /// Has lines go to the destination of this name.
    pub fn send_to(&mut self, named: &str) {
        self.destination = named_destination(named);
    }

    /// Refuses settings that promise more than the destination can keep, or that name a store which is not there.
    pub fn check(&self, tasks: &TaskSettings) -> Result<(), UnusableDestination> {
        match &self.destination {
            Some(Destination::Store) if !tasks.is_in_database() => Err(UnusableDestination::NoDatabase),
            Some(place) if self.durable && !place.can_be_durable() => {
                Err(UnusableDestination::NotDurable(place.word()))
            }
            _ => Ok(()),
        }
    }

    /// Where lines go and how, if there is an audit log.
    pub fn options(&self) -> Option<Options> {
        let destination = self.destination.clone()?;
        Some(Options { destination, rotation: self.rotation, on_error: self.on_error })
    }
}

fn named_destination(named: &str) -> Option<Destination> {
    (named != "off" && !named.is_empty()).then(|| Destination::parse(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn settings(given: &[(&str, &str)]) -> Settings {
        let value =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::read(value).0
    }

    fn read(given: &[(&str, &str)]) -> AuditSettings {
        settings(given).audit
    }

    fn check(given: &[(&str, &str)]) -> Result<(), UnusableDestination> {
        let settings = settings(given);
        settings.audit.check(&settings.tasks)
    }

    #[test]
    fn there_is_no_audit_log_unless_it_is_wanted() {
        assert!(read(&[]).options().is_none());
        assert!(read(&[("MCPBASH_AUDIT", "off")]).options().is_none());
        let file = read(&[("MCPBASH_AUDIT", "/var/log/audit.jsonl"), ("MCPBASH_AUDIT_MAX_AGE_HOURS", "24")]);
        assert_eq!(file.destination, Some(Destination::File("/var/log/audit.jsonl".into())));
        assert_eq!(file.rotation.max_age, Some(Duration::from_secs(24 * 3600)));
        assert_eq!((file.arguments, file.on_error), (RecordedArguments::Hash, OnError::Refuse));
    }

    #[test]
    fn only_a_file_and_a_store_are_durable() {
        let durable = |place: &str| check(&[("MCPBASH_AUDIT", place), ("MCPBASH_AUDIT_DURABLE", "true")]);
        for place in ["/var/log/audit.jsonl", "off", ""] {
            assert_eq!(durable(place), Ok(()), "{place}");
        }
        for place in ["syslog", "syslog:/run/log", "journal", "stderr"] {
            let problem = durable(place).unwrap_err().to_string();
            assert!(
                problem.contains(place.split(':').next().unwrap()) && problem.contains("=false"),
                "{problem}"
            );
        }
        assert_eq!(check(&[("MCPBASH_AUDIT", "syslog")]), Ok(()));
        let store = [("MCPBASH_STORE", "postgres://h/d"), ("MCPBASH_AUDIT", "store")];
        assert_eq!(check(&[&store[..], &[("MCPBASH_AUDIT_DURABLE", "true")]].concat()), Ok(()));
    }

    #[test]
    fn a_log_in_the_store_needs_a_database() {
        for store in [&[][..], &[("MCPBASH_STORE", "/var/lib/mcp")]] {
            let problem = check(&[&[("MCPBASH_AUDIT", "store")], store].concat()).unwrap_err().to_string();
            assert!(problem.contains("MCPBASH_STORE") && problem.contains("postgres://"), "{problem}");
        }
    }

    #[test]
    fn a_wrong_word_neither_shows_arguments_nor_lets_calls_go_on() {
        let wrong = read(&[
            ("MCPBASH_AUDIT", "syslog"),
            ("MCPBASH_AUDIT_ARGUMENTS", "ful"),
            ("MCPBASH_AUDIT_ON_ERROR", "ignore"),
        ]);
        assert_eq!((wrong.arguments, wrong.on_error), (RecordedArguments::Hash, OnError::Refuse));
    }
}
