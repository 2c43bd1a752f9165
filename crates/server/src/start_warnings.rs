//! What went wrong while the server started, when no client could be told yet: each is told of it once it is ready.

use mcp_bash_wire::LogLevel;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// More warnings than these are counted, and not told one by one.
const MOST: usize = 20;

#[derive(Default)]
pub(crate) struct StartWarnings(Mutex<State>);

#[derive(Default)]
struct State {
    warnings: Vec<Warning>,
    /// How many there were besides.
    more: usize,
    is_over: bool,
}

/// Its level, its logger and its data.
type Warning = (LogLevel, String, Value);

impl StartWarnings {
    /// Keeps an event if it is a warning and the server has not started yet.
    pub(crate) fn note(&self, level: LogLevel, logger: &str, data: impl FnOnce() -> Value) {
        if level < LogLevel::Warning {
            return;
        }
        let mut state = self.0.lock();
        if state.is_over {
            return;
        }
        if state.warnings.len() < MOST {
            state.warnings.push((level, logger.to_owned(), data()));
        } else {
            state.more += 1;
        }
    }

    /// Nothing is kept from now on.
    pub(crate) fn close(&self) {
        self.0.lock().is_over = true;
    }

    /// All that was kept, and how many there were besides.
    pub(crate) fn all(&self) -> Vec<Warning> {
        let state = self.0.lock();
        let mut warnings = state.warnings.clone();
        if state.more > 0 {
            let message = format!("{} more warnings; `mcp-bash --health` lists them all", state.more);
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
        kept.note(LogLevel::Info, "x", || json!({}));
        assert!(kept.all().is_empty());
        for number in 0..MOST + 3 {
            kept.note(LogLevel::Error, "x", || json!({ "message": number }));
        }
        kept.close();
        kept.note(LogLevel::Error, "x", || json!({}));
        let all = kept.all();
        assert_eq!(all.len(), MOST + 1);
        assert_eq!(all[MOST - 1], (LogLevel::Error, "x".to_owned(), json!({ "message": MOST - 1 })));
        assert!(all[MOST].2["message"].as_str().unwrap().starts_with("3 more"), "{all:?}");
    }
}
