//! Schema check: whether any arguments can satisfy `inputSchema`, and any result `outputSchema`.

use super::source::{Sources, ToolSource};
use crate::{Catalog, Diagnostic, Tool};
use mcp_bash_schema::{Schema, contradictions};
use mcp_bash_spelling::nearest;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::PathBuf;

/// The schema of a tool that declares none.
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// Checks the schemas of all tools. `metadata` are the metadata files that are read.
pub(super) fn check(catalog: &Catalog, metadata: &[PathBuf], found: &mut Vec<Diagnostic>) {
    let sources = Sources::new(catalog, metadata);
    // A tool that declares no arguments has nothing to check, and many servers have no others.
    let is_trivial = |tool: &Tool| tool.input_schema.get() == NO_ARGUMENTS && tool.output_schema.is_none();
    for tool in catalog.tools.items().iter().filter(|tool| !is_trivial(tool)) {
        let source = sources.of(tool);
        check_one(&tool.input_schema, "inputSchema", "arguments", &source, found);
        if let Some(schema) = &tool.output_schema {
            check_one(schema, "outputSchema", "result", &source, found);
        }
    }
}

fn check_one(schema: &RawValue, key: &str, what: &str, source: &ToolSource<'_>, found: &mut Vec<Diagnostic>) {
    let wrong = |problem: String, remedy: &str| Diagnostic::error(source.file, problem, remedy);
    if let Err(error) = Schema::compile(schema.get()) {
        let problem = format!("has an `{key}` that cannot be used, so that every call fails: {error}");
        let (problem, remedy) = match problem.rsplit_once("; ") {
            Some((problem, remedy)) => (problem.to_owned(), remedy.to_owned()),
            None => (problem, "fix the schema".to_owned()),
        };
        // The validator's message names the place between backticks.
        let pointer = problem.split('`').find(|part| part.starts_with('/')).unwrap_or_default().to_owned();
        found.push(source.mark(wrong(problem, &remedy), key, &pointer));
        return;
    }
    let Ok(contradictions) = contradictions(schema.get()) else { return };
    if contradictions.found.is_empty() {
        check_required(schema, key, source, found);
    }
    for contradiction in contradictions.found {
        let place = match &*contradiction.pointer {
            "" => format!("`{key}`"),
            pointer => format!("`{key}{pointer}`"),
        };
        let problem = format!("{place}: {}", contradiction.problem);
        let diagnostic = if contradictions.is_never {
            wrong(format!("{problem}; so no {what} can ever fit"), "fix the schema")
        } else {
            Diagnostic::warning(source.file, problem, "fix the schema")
        };
        found.push(source.mark(diagnostic, key, &contradiction.pointer));
    }
}

/// Names in `required` that `properties` does not have are misspelled or forgotten: no client knows what to send.
fn check_required(schema: &RawValue, key: &str, source: &ToolSource<'_>, found: &mut Vec<Diagnostic>) {
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let (Some(required), Some(properties)) =
        (schema["required"].as_array(), schema["properties"].as_object())
    else {
        return;
    };
    if schema.get("patternProperties").is_some() {
        return;
    }
    for name in required.iter().filter_map(Value::as_str).filter(|name| !properties.contains_key(*name)) {
        let problem = format!("has an `{key}` that requires `{name}`, which its `properties` does not have");
        let remedy = match nearest(name, properties.keys().map(String::as_str)) {
            Some(meant) => format!("require `{meant}` if that is what you mean"),
            None => format!("describe `{name}` in `properties`, or require it no longer"),
        };
        found.push(source.mark(Diagnostic::warning(source.file, problem, &remedy), key, "/required"));
    }
}
