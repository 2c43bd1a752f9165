//! Log settings: what is written to files while the server runs, and where.

pub(crate) mod audit;

use crate::given::Source;
use crate::reader::Reader;
use crate::table;
use std::path::PathBuf;

/// What is written to files while the server runs, and where.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that people set by its own name")]
pub struct LogSettings {
    /// The folder for log files, if set.
    pub folder: Option<PathBuf>,
    /// The folder for temporary files, if set.
    pub temporary: Option<PathBuf>,
    /// Whether plain-text lines include the time.
    pub timestamps: bool,
    /// Whether the private folder is kept when the server exits.
    pub keep: bool,
    /// How the commands of bash scripts are recorded, if they are.
    pub trace: Option<TraceSettings>,
    /// Whether the error for a result that breaks its schema includes diagnostics of the call.
    pub debug_errors: bool,
    /// Whether failed calls are summarised in a file for a build.
    pub ci: bool,
}

/// How the commands of bash scripts are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSettings {
    /// The prefix of each command, which bash expands.
    pub prompt: String,
    /// How much of the end of a record is kept, in bytes.
    pub max_bytes: u64,
}

impl LogSettings {
    /// `ci` is whether the server runs as part of a build.
    pub(crate) fn from_rows(reader: &mut Reader<'_>, ci: bool) -> Self {
        let trace = TraceSettings {
            prompt: reader.value(&table::TRACE_PS4),
            max_bytes: reader.value(&table::TRACE_MAX_BYTES) as u64,
        };
        let preserve = reader.value(&table::PRESERVE_STATE);
        let keep = switch(reader, &table::KEEP_LOGS, ci);
        Self {
            folder: reader.value(&table::LOG_DIR),
            temporary: reader.value(&table::TMP_ROOT),
            timestamps: switch(reader, &table::LOG_TIMESTAMP, ci),
            keep: preserve || keep,
            trace: reader.value(&table::TRACE_TOOLS).then_some(trace),
            debug_errors: reader.value(&table::DEBUG_ERRORS),
            ci,
        }
    }
}

/// A flag that is on in a build unless it is set.
fn switch(reader: &mut Reader<'_>, row: &'static crate::row::Row<crate::kind::Flag>, ci: bool) -> bool {
    let value = reader.value(row);
    if !ci || reader.is_set(row) {
        return value;
    }
    reader.overrule(row, "true", Source::Variable(table::CI_MODE.name));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn read(given: &[(&str, &str)]) -> LogSettings {
        let value =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::read(value).0.logs
    }

    #[test]
    fn ci_mode_keeps_logs_unless_overridden() {
        let plain = read(&[]);
        assert!(!plain.keep && !plain.timestamps && !plain.ci && plain.trace.is_none());
        let ci = ("MCPBASH_CI_MODE", "true");
        assert!(read(&[ci]).keep && read(&[ci]).timestamps && read(&[ci]).ci);
        let off = read(&[ci, ("MCPBASH_KEEP_LOGS", "false"), ("MCPBASH_LOG_TIMESTAMP", "false")]);
        assert!(!off.keep && !off.timestamps);
        assert!(read(&[("MCPBASH_PRESERVE_STATE", "true")]).keep && read(&[("MCPBASH_KEEP_LOGS", "1")]).keep);
    }
}
