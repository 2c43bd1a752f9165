//! Meta-schemas: the schema of all schemas of a draft, made from the table of keywords.

use crate::draft::Draft;
use crate::keywords::{Shape, keywords};
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The meta-schema of a draft, made when it is first needed.
pub(crate) fn document(draft: Draft) -> &'static Value {
    static DOCUMENTS: [OnceLock<Value>; Draft::ALL.len()] = [const { OnceLock::new() }; Draft::ALL.len()];
    DOCUMENTS[draft as usize].get_or_init(|| write(draft))
}

fn write(draft: Draft) -> Value {
    let definitions = if draft <= Draft::Draft7 { "definitions" } else { "$defs" };
    let types = if draft == Draft::Draft4 { json!("object") } else { json!(["object", "boolean"]) };
    let properties: Map<String, Value> =
        keywords(draft).map(|keyword| (keyword.name.to_owned(), describe(keyword.shape, draft))).collect();
    let mut schema = json!({
        "$schema": draft.address(),
        draft.id_keyword(): draft.address(),
        "type": types,
        "properties": properties,
        definitions: {
            count_name(draft): { "type": "integer", "minimum": 0 },
            "schemaArray": { "type": "array", "minItems": 1, "items": any_schema(draft) },
            "simpleTypes": { "enum": ["array", "boolean", "integer", "null", "number", "object", "string"] },
            "stringArray": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
        },
    });
    match draft {
        Draft::Draft4 => {
            let needs = json!({ "exclusiveMaximum": ["maximum"], "exclusiveMinimum": ["minimum"] });
            schema["dependencies"] = needs;
            schema[definitions]["stringArray"]["minItems"] = json!(1);
        }
        Draft::Draft6 | Draft::Draft7 => {}
        Draft::Draft201909 => schema["$recursiveAnchor"] = json!(true),
        Draft::Draft202012 => schema["$dynamicAnchor"] = json!("meta"),
    }
    schema
}

/// A reference to the whole meta-schema, or to the one that extends it.
fn any_schema(draft: Draft) -> Value {
    match draft {
        Draft::Draft4 | Draft::Draft6 | Draft::Draft7 => json!({ "$ref": "#" }),
        Draft::Draft201909 => json!({ "$recursiveRef": "#" }),
        Draft::Draft202012 => json!({ "$dynamicRef": "#meta" }),
    }
}

fn count_name(draft: Draft) -> &'static str {
    if draft == Draft::Draft4 { "positiveInteger" } else { "nonNegativeInteger" }
}

/// The schema for the value of a keyword.
fn describe(shape: Shape, draft: Draft) -> Value {
    let place = if draft <= Draft::Draft7 { "definitions" } else { "$defs" };
    let defined = |name: &str| json!({ "$ref": format!("#/{place}/{name}") });
    let any = any_schema(draft);
    let map = |of: Value| json!({ "type": "object", "additionalProperties": of });
    match shape {
        Shape::Anything => json!({}),
        Shape::Text => json!({ "type": "string" }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Number => json!({ "type": "number" }),
        Shape::Step if draft == Draft::Draft4 => {
            json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true })
        }
        Shape::Step => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Count => defined(count_name(draft)),
        Shape::Texts => defined("stringArray"),
        Shape::List => json!({ "type": "array" }),
        Shape::Types => {
            let several = json!({
                "type": "array", "items": defined("simpleTypes"), "minItems": 1, "uniqueItems": true
            });
            json!({ "anyOf": [defined("simpleTypes"), several] })
        }
        Shape::Id => json!({ "type": "string", "pattern": "^[^#]*#?$" }),
        Shape::Anchor => json!({ "type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$" }),
        Shape::AnchorName => json!({ "type": "string", "pattern": "^[A-Za-z][-A-Za-z0-9.:_]*$" }),
        Shape::Flags => map(json!({ "type": "boolean" })),
        Shape::TextsMap => map(defined("stringArray")),
        Shape::Schema => any,
        Shape::SchemaOrFlag => json!({ "anyOf": [{ "type": "boolean" }, any] }),
        Shape::Schemas => defined("schemaArray"),
        Shape::SchemaOrSchemas => json!({ "anyOf": [any, defined("schemaArray")] }),
        Shape::SchemaMap => map(any),
        Shape::SchemaOrTextsMap => map(json!({ "anyOf": [any, defined("stringArray")] })),
    }
}
