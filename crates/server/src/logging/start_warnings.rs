//! Startup warnings: problems from before the first client was initialized. Each client receives them once it is.

use mcp_bash_wire::LogLevel;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most warnings that are sent individually; the others are counted.
const MOST: usize = 20;

#[derive(Default)]
pub(crate) struct StartWarnings(Mutex<CollectedWarnings>);

#[derive(Default)]
struct CollectedWarnings {
    warnings: Vec<Warning>,
    /// The number of the others.
    more: usize,
    /// Set when a client is initialized. Further warnings are sent as they occur.
    is_over: bool,
}

/// Level, logger and data.
type Warning = (LogLevel, String, Value);

/// Identifies a warning across servers.
pub(crate) fn digest((_, logger, data): &Warning) -> String {
    let mut hasher = DefaultHasher::new();
    (logger, data.to_string()).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl StartWarnings {
    /// Keeps a warning from before the first client was initialized. False if the event has to be sent now.
    pub(crate) fn keep(&self, level: LogLevel, logger: &str, data: impl FnOnce() -> Value) -> bool {
        if level < LogLevel::Warning {
            return false;
        }
        let mut state = self.0.lock();
        if state.is_over {
            return false;
        }
        let warning = (level, logger.to_owned(), data());
        // A reload of the project repeats the same warnings.
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

    /// The kept warnings, and the number of the others, for a client that was just initialized. No more warnings are kept from
    /// now on.
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
