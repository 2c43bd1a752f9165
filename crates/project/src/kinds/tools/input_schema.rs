//! Input schemas, in the form that every client expects.

use crate::declarations::error::{EntryError, within, wrong_value};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The schema of a tool whose author has written none.
pub(super) const NO_SCHEMA: &str = r#"{"type":"object","properties":{}}"#;

/// A schema that says `"type": "object"` and has `properties`, as every client expects.
pub(super) fn input_schema(schema: Option<Box<RawValue>>) -> Result<Box<RawValue>, EntryError> {
    #[derive(Deserialize)]
    struct Shape<'a> {
        r#type: Option<Value>,
        #[serde(borrow)]
        properties: Option<&'a RawValue>,
    }
    let text = schema.as_deref().map_or("{}", RawValue::get);
    let shape: Shape<'_> = serde_json::from_str(text).map_err(within("inputSchema"))?;
    let mut added = String::new();
    match shape.r#type {
        None => added.push_str(r#""type":"object","#),
        Some(kind) if kind == "object" => {}
        Some(kind) => {
            let remedy = "; write `\"type\": \"object\"` and put the rest into `properties`";
            return Err(wrong_value("inputSchema", "have the type \"object\"", kind.to_string(), remedy));
        }
    }
    match shape.properties {
        None => added.push_str(r#""properties":{},"#),
        Some(properties) if properties.get().starts_with('{') => {}
        Some(_) => {
            return Err(
                "`inputSchema.properties` must be an object; write a schema for each name in it".into()
            );
        }
    }
    let whole = match schema {
        Some(schema) if added.is_empty() => return Ok(schema),
        Some(schema) if schema.get() != "{}" => schema.get().replacen('{', &format!("{{{added}"), 1),
        _ => format!("{{{}}}", added.trim_end_matches(',')),
    };
    RawValue::from_string(whole).map_err(within("inputSchema"))
}
