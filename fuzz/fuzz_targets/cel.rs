//! Arbitrary expressions over arbitrary JSON: neither panics nor takes more than its budget.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_cel::{Budget, Program, Value, Variable};

const VARIABLES: [Variable; 2] =
    [Variable { name: "args", fields: None }, Variable { name: "tool", fields: Some(&["name"]) }];

fuzz_target!(|input: (&str, &str)| {
    let (source, json) = input;
    let Ok(program) = Program::compile(source, &VARIABLES) else { return };
    let args = serde_json::from_str(json).unwrap_or(serde_json::Value::Null);
    let tool = serde_json::json!({ "name": "deploy" });
    let variables = [Value::from(&args), Value::from(&tool)];
    let mut budget = Budget::new(50_000);
    let value = program.evaluate(&variables, &mut budget).map(|value| value.to_string());
    let again = program.evaluate(&variables, &mut Budget::new(50_000)).map(|value| value.to_string());
    assert_eq!(value, again);
    let _ = program.observed(&VARIABLES, &variables);
});
