//! Variable names: the variables that an author says a script needs (`"env": ["GITHUB_TOKEN"]`). They reach it from the
//! server's environment, even if scripts see little else of it. `env` of a tool may also map arguments to variables, beside
//! the names or alone; `mapping` reads those members.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Whether `env` maps no argument to a variable.
pub(crate) fn is_only_names(value: &RawValue) -> bool {
    let is_all_names = |members: &Map<String, Value>| members.values().all(is_passed_on);
    match serde_json::from_str(value.get()) {
        Ok(Value::Array(items)) => items.iter().filter_map(Value::as_object).all(is_all_names),
        Ok(Value::Object(members)) => !members.is_empty() && is_all_names(&members),
        _ => false,
    }
}

/// Whether a member of `env` is only named: its value comes from the server's environment.
pub(crate) fn is_passed_on(value: &Value) -> bool {
    *value == Value::Bool(true)
}

/// The names. `problems` receives what is wrong with invalid ones.
pub(crate) fn read(value: Option<&RawValue>, problems: &mut Vec<String>) -> Vec<String> {
    let Some(value) = value.filter(|value| value.get() != "null") else { return Vec::new() };
    let Some(names) = serde_json::from_str(value.get()).ok().and_then(written_names) else {
        problems.push("`env` is ignored: it must be a list of the names of variables".to_owned());
        return Vec::new();
    };
    let mut usable = Vec::with_capacity(names.len());
    for name in names {
        if !is_name(&name) {
            problems.push(format!("`env` names `{}`, which is no name of a variable", name.escape_debug()));
        } else if name.contains("MCPBASH_REMOTE_TOKEN") {
            problems.push(format!("`env` names {name}, which no script is given"));
        } else if !usable.contains(&name) {
            usable.push(name);
        }
    }
    usable
}

/// The names in a list of names and objects, or in an object. The members of an object that are not `true` map arguments.
fn written_names(written: Value) -> Option<Vec<String>> {
    let named = |members: Map<String, Value>| -> Vec<String> {
        members.into_iter().filter(|(_, value)| is_passed_on(value)).map(|(name, _)| name).collect()
    };
    let of_item = |item: Value| match item {
        Value::String(name) => Some(vec![name]),
        Value::Object(members) => Some(named(members)),
        _ => None,
    };
    match written {
        Value::Array(items) => Some(items.into_iter().map(of_item).collect::<Option<Vec<_>>>()?.concat()),
        Value::Object(members) => Some(named(members)),
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Vec<String>, usize) {
        let value: Box<RawValue> = serde_json::from_str(text).unwrap();
        let mut problems = Vec::new();
        (read(Some(&value), &mut problems), problems.len())
    }

    #[test]
    fn valid_names_are_accepted_and_others_are_reported() {
        assert_eq!(names(r#"["A", "B_1", "A"]"#), (vec!["A".to_owned(), "B_1".to_owned()], 0));
        assert_eq!(names(r#"["A=1", "", "1A", "a b", "é", "MCPBASH_REMOTE_TOKEN"]"#), (vec![], 6));
        for wrong in [r#""A""#, "7", r#"["A", 1]"#] {
            assert_eq!(names(wrong), (vec![], 1), "{wrong}");
        }
        assert_eq!(names(r#"{"A": true, "DEPTH": "{depth}"}"#), (vec!["A".to_owned()], 0));
        assert_eq!(
            names(r#"["A", {"DEPTH": "{depth}", "B": true}, "C"]"#),
            (["A", "B", "C"].map(str::to_owned).into(), 0)
        );
        assert_eq!(names("null"), (vec![], 0));
    }
}
