//! Variable names: the variables that an author says a script needs (`"env": ["GITHUB_TOKEN"]`). They reach it from the
//! server's environment, even if scripts see little else of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A list of names, or an object in which some members are `true`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    List(Vec<String>),
    Members(Map<String, Value>),
}

/// Whether `env` maps no argument to a variable.
pub(crate) fn is_only_names(value: &RawValue) -> bool {
    match serde_json::from_str(value.get()) {
        Ok(Value::Array(_)) => true,
        Ok(Value::Object(members)) => {
            !members.is_empty() && members.values().all(|value| *value == Value::Bool(true))
        }
        _ => false,
    }
}

/// The names. `problems` receives what is wrong with invalid ones.
pub(crate) fn read(value: Option<&RawValue>, problems: &mut Vec<String>) -> Vec<String> {
    let Some(value) = value.filter(|value| value.get() != "null") else { return Vec::new() };
    let names = match serde_json::from_str(value.get()) {
        Ok(Written::List(names)) => names,
        // The other members map arguments to variables.
        Ok(Written::Members(members)) => members
            .into_iter()
            .filter(|(_, value)| *value == Value::Bool(true))
            .map(|(name, _)| name)
            .collect(),
        Err(_) => {
            problems.push("`env` is ignored: it must be a list of the names of variables".to_owned());
            return Vec::new();
        }
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
        assert_eq!(names("null"), (vec![], 0));
    }
}
