//! Startup warnings: problems from before the first client was ready. Each client receives them once it is ready.

use mcp_bash_wire::LogLevel;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most warnings that are sent one by one; the rest are counted.
const MOST: usize = 20;

#[derive(Default)]
pub(crate) struct StartWarnings(Mutex<CollectedWarnings>);

#[derive(Default)]
struct CollectedWarnings {
    warnings: Vec<Warning>,
    /// How many more there were.
    more: usize,
    /// A client is ready, and receives further warnings as they occur.
    is_over: bool,
}

/// Its level, its logger and its data.
type Warning = (LogLevel, String, Value);

/// Identifies a warning when it occurs again.
pub(crate) fn digest((_, logger, data): &Warning) -> String {
    let mut hasher = DefaultHasher::new();
    (logger, data.to_string()).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl StartWarnings {
    /// Keeps an event if it is a warning and no client was ready yet. False if it has to be sent now.
    pub(crate) fn keep(&self, level: LogLevel, logger: &str, data: impl FnOnce() -> Value) -> bool {
        if level < LogLevel::Warning {
            return false;
        }
        let mut state = self.0.lock();
        if state.is_over {
            return false;
        }
        let warning = (level, logger.to_owned(), data());
        // A project that is read again gives the same warnings again.
        if state.warnings.contains(&warning) {
            return true;
        }
        if state.warnings.len() < MOST {
            state.warnings.push(warning);
        } else {
            state.more += 1;
        }
        true
    }

    /// All warnings that were kept, and how many more there were, for a client that is ready. Nothing is kept from now
    /// on.
    pub(crate) fn all(&self) -> Vec<Warning> {
        let mut state = self.0.lock();
        state.is_over = true;
        let mut warnings = state.warnings.clone();
        if state.more > 0 {
            let message = format!("{} more warnings; `mcp-bash health` lists them all", state.more);
            warnings.push((LogLevel::Warning, "mcp.project".to_owned(), json!({ "message": message })));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_of_the_start_are_kept_and_not_too_many_of_them() {
        let kept = StartWarnings::default();
        assert!(!kept.keep(LogLevel::Info, "x", || json!({})));
        for number in (0..MOST + 3).chain([0, 1]) {
            assert!(kept.keep(LogLevel::Error, "x", || json!({ "message": number })));
        }
        let all = kept.all();
        assert_eq!(all.len(), MOST + 1);
        assert_eq!(all[MOST - 1], (LogLevel::Error, "x".to_owned(), json!({ "message": MOST - 1 })));
        assert!(all[MOST].2["message"].as_str().unwrap().starts_with("3 more"), "{all:?}");
        assert!(!kept.keep(LogLevel::Error, "x", || json!({})), "a client is ready");
        assert_eq!(kept.all(), all, "the next client is told the same");
    }
}
