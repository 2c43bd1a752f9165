//! The lines that occur in a text more than once.

use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn call(arguments: &Value) -> Result<Value, String> {
    let ignore_case = arguments["ignore_case"].as_bool().unwrap_or(false);
    let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, line) in (1..).zip(crate::text(arguments)?.lines()) {
        let line = line.trim();
        let key = if ignore_case { line.to_lowercase() } else { line.to_owned() };
        seen.entry(key).or_default().push(number);
    }
    let duplicates: Vec<Value> = seen
        .into_iter()
        .filter(|(line, numbers)| !line.is_empty() && numbers.len() > 1)
        .map(|(line, numbers)| json!({ "line": line, "numbers": numbers }))
        .collect();
    Ok(json!({ "duplicates": duplicates }))
}
