//! Schema limits: how large the text of a schema may be, and which dialect it is written in.

use crate::SchemaError;
use jsonschema::Draft;
use mcp_bash_wire::{Limits, ScanError, Scanner};
use serde_json::Value;

/// The longest schema, in bytes.
pub const MAX_SCHEMA_BYTES: usize = 1024 * 1024;
/// How deep objects and arrays of a schema may be nested.
pub const MAX_SCHEMA_DEPTH: usize = 64;
/// How many subschemas a schema may have. Every object counts, since telling them apart would need the dialect.
pub const MAX_SUBSCHEMAS: usize = 10_000;

/// Parses the text if it is within the limits.
pub(crate) fn read(text: &str) -> Result<Value, SchemaError> {
    if text.len() > MAX_SCHEMA_BYTES {
        return Err(SchemaError::TooLarge);
    }
    let limits = Limits { depth: MAX_SCHEMA_DEPTH, ..Limits::default() };
    match Scanner::new(text, limits).whole_value() {
        Err(ScanError::TooDeep(_)) => return Err(SchemaError::TooDeep),
        Err(error) => return Err(SchemaError::NotJson(error.to_string())),
        Ok(_) => {}
    }
    // It is JSON, so serde_json can only object to numbers beyond its types and lone surrogates.
    let schema = serde_json::from_str(text).map_err(|error| SchemaError::NotJson(error.to_string()))?;
    if count_objects(&schema) > MAX_SUBSCHEMAS {
        return Err(SchemaError::TooManySubschemas);
    }
    Ok(schema)
}

fn count_objects(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(count_objects).sum::<usize>(),
        Value::Array(elements) => elements.iter().map(count_objects).sum(),
        _ => 0,
    }
}

/// How many references can be followed in a row without much stack.
pub(crate) const FEW_REFERENCES: usize = 100;

pub(crate) fn count_references(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let refers = matches!(name.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef");
                usize::from(refers) + count_references(value)
            })
            .sum(),
        Value::Array(elements) => elements.iter().map(count_references).sum(),
        _ => 0,
    }
}

/// The dialect that `$schema` names. `http` and `https` count as the same: both are in use.
pub(crate) fn dialect(schema: &Value) -> Result<Draft, SchemaError> {
    let Some(uri) = schema.get("$schema").and_then(Value::as_str) else { return Ok(Draft::Draft202012) };
    let bare = uri.trim_end_matches('#');
    let bare = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://")).unwrap_or(bare);
    match bare {
        "json-schema.org/draft/2020-12/schema" => Ok(Draft::Draft202012),
        "json-schema.org/draft/2019-09/schema" => Ok(Draft::Draft201909),
        "json-schema.org/draft-07/schema" => Ok(Draft::Draft7),
        "json-schema.org/draft-06/schema" => Ok(Draft::Draft6),
        "json-schema.org/draft-04/schema" => Ok(Draft::Draft4),
        _ => Err(SchemaError::UnknownDialect(crate::excerpt::clip(uri, 200).into_owned())),
    }
}
