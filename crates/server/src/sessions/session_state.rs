//! Session state: JSON values that functions keep between the calls of a session. The server stores them, so that any process
//! can serve a call, and so that they end with the session.

use mcp_bash_budget::{Budget, Charge};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The most that one session may keep, in bytes of JSON. The SDKs refuse more before they send it.
const LARGEST: usize = 64 * 1024;

/// The state of one session.
#[derive(Default)]
pub(crate) struct SessionState(Mutex<Held>);

#[derive(Default)]
struct Held {
    values: Map<String, Value>,
    /// The values as a JSON object; empty without values.
    text: String,
    /// Their charge to the caller's budget.
    charge: Option<Charge>,
}

impl SessionState {
    /// The values as a JSON object.
    pub(crate) fn text(&self) -> String {
        let held = self.0.lock();
        if held.text.is_empty() { "{}".to_owned() } else { held.text.clone() }
    }

    /// Applies the changes of one call, `{"set": {…}, "delete": […]}`, all of them or none. The error is for the operator.
    pub(crate) fn change(&self, changes: &str, budget: &Arc<Budget>) -> Result<(), &'static str> {
        const MALFORMED: &str = "its changes are malformed";
        let changes: Map<String, Value> = serde_json::from_str(changes).map_err(|_| MALFORMED)?;
        let mut held = self.0.lock();
        let mut values = held.values.clone();
        for name in changes.get("delete").map_or(Ok(&[][..]), |names| as_slice(names).ok_or(MALFORMED))? {
            values.remove(name.as_str().ok_or(MALFORMED)?);
        }
        if let Some(set) = changes.get("set") {
            let set = set.as_object().ok_or(MALFORMED)?;
            values.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        let text = if values.is_empty() { String::new() } else { Value::from(values.clone()).to_string() };
        if text.len() > LARGEST {
            return Err("it is larger than 65536 bytes");
        }
        let charge = held.charge.get_or_insert_with(|| Charge::nothing(budget));
        charge.grow_to(text.len()).map_err(|_| "there is no room for it in the memory of its caller")?;
        charge.set(text.len());
        (held.values, held.text) = (values, text);
        Ok(())
    }
}

fn as_slice(value: &Value) -> Option<&[Value]> {
    value.as_array().map(Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bytes: usize) -> Arc<Budget> {
        Budget::new(bytes, "SETTING")
    }

    #[test]
    fn values_are_set_and_deleted_by_name() {
        let (state, budget) = (SessionState::default(), budget(1_000_000));
        assert_eq!(state.text(), "{}");
        state.change(r#"{"set":{"a":1,"b":{"c":[true]}},"delete":[]}"#, &budget).unwrap();
        state.change(r#"{"set":{"a":2},"delete":["b","unknown"]}"#, &budget).unwrap();
        assert_eq!(state.text(), r#"{"a":2}"#);
        assert_eq!(budget.used(), 7);
        state.change(r#"{"delete":["a"]}"#, &budget).unwrap();
        assert_eq!((state.text().as_str(), budget.used()), ("{}", 0));
    }

    #[test]
    fn what_cannot_be_kept_changes_nothing() {
        let (state, budget) = (SessionState::default(), budget(1000));
        state.change(r#"{"set":{"a":1}}"#, &budget).unwrap();
        let large = |size: usize| format!(r#"{{"set":{{"b":"{}"}},"delete":["a"]}}"#, "x".repeat(size));
        assert!(state.change(&large(2000), &budget).unwrap_err().contains("no room"));
        assert!(state.change(&large(70_000), &budget).unwrap_err().contains("65536"));
        for text in ["[]", r#"{"set":5}"#, r#"{"delete":[1]}"#] {
            assert!(state.change(text, &budget).is_err(), "{text}");
        }
        assert_eq!((state.text().as_str(), budget.used()), (r#"{"a":1}"#, 7));
    }
}
