//! Selection of records by tool, caller, outcome and time.

use serde_json::{Map, Value};
use std::time::SystemTime;

/// The records that are wanted. Without a condition, all of them.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub tool: Option<String>,
    pub caller: Option<String>,
    pub outcome: Option<String>,
    pub since: Option<SystemTime>,
    pub until: Option<SystemTime>,
}

impl Selection {
    /// Whether a record is wanted.
    pub fn has(&self, record: &Map<String, Value>) -> bool {
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        let is = |wanted: &Option<String>, name: &str| {
            wanted.as_ref().is_none_or(|wanted| text(name) == Some(wanted.as_str()))
        };
        if !is(&self.tool, "gen_ai.tool.name")
            || !is(&self.caller, "caller.name")
            || !is(&self.outcome, "outcome")
        {
            return false;
        }
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let time = text("time").and_then(mcp_bash_utc::parse);
        time.is_some_and(|time| {
            self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time <= until)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_utc::parse;

    #[test]
    fn all_conditions_must_hold() {
        let record = serde_json::json!({
            "time": "2026-01-02T10:00:00.000000Z", "gen_ai.tool.name": "greet", "caller.name": "ann",
            "outcome": "success",
        });
        let record = record.as_object().unwrap();
        let text = |text: &str| Some(text.to_owned());
        let day = |day: &str| parse(&format!("2026-01-{day}"));
        assert!(Selection::default().has(record));
        let all = Selection {
            tool: text("greet"),
            caller: text("ann"),
            outcome: text("success"),
            since: day("02"),
            until: day("03"),
        };
        assert!(all.has(record));
        for other in [
            Selection { tool: text("gree"), ..all.clone() },
            Selection { caller: text("bob"), ..all.clone() },
            Selection { outcome: text("failure"), ..all.clone() },
            Selection { since: day("03"), ..all.clone() },
            Selection { until: day("02"), ..all },
        ] {
            assert!(!other.has(record), "{other:?}");
        }
    }
}
