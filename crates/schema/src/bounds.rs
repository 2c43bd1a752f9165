//! Schema limits: how large the text of a schema may be.

use crate::SchemaError;
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
