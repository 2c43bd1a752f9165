//! Meta-schemas: the schema of all schemas of a draft, made from the table of keywords.

use crate::compiling::draft::Draft;
use crate::compiling::keywords::{Keyword, Shape, keywords};
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The meta-schema of a draft, made when it is first needed.
pub(crate) fn document(draft: Draft) -> &'static Value {
    static DOCUMENTS: [OnceLock<Value>; Draft::ALL.len()] = [const { OnceLock::new() }; Draft::ALL.len()];
    DOCUMENTS[draft as usize].get_or_init(|| write(draft, draft.address(), |_| true))
}

/// The parts that the meta-schemas of the newest drafts consist of.
const VOCABULARIES: [&str; 9] = [
    "core",
    "applicator",
    "unevaluated",
    "validation",
    "meta-data",
    "format",
    "format-annotation",
    "format-assertion",
    "content",
];

/// The meta-schema, or the part of one, at an address.
pub(crate) fn at(address: &str) -> Option<(Draft, &'static Value)> {
    static PARTS: [[OnceLock<Value>; VOCABULARIES.len()]; 2] =
        [const { [const { OnceLock::new() }; VOCABULARIES.len()] }; 2];
    if let Some(draft) = Draft::at(address) {
        return Some((draft, document(draft)));
    }
    [Draft::Draft201909, Draft::Draft202012].into_iter().zip(&PARTS).find_map(|(draft, parts)| {
        let name = address.strip_prefix(draft.address().strip_suffix("schema")?)?.strip_prefix("meta/")?;
        let part = &parts[VOCABULARIES.iter().position(|known| *known == name)?];
        Some((draft, part.get_or_init(|| write(draft, address, |keyword| is_part(name, keyword, draft)))))
    })
}

/// Whether a keyword belongs to a vocabulary.
fn is_part(vocabulary: &str, keyword: &Keyword, draft: Draft) -> bool {
    let is_newest = draft == Draft::Draft202012;
    let own = match keyword.name {
        "definitions" | "dependencies" => return false,
        "$recursiveRef" | "$recursiveAnchor" if is_newest => return false,
        "format" => return vocabulary.starts_with("format"),
        "contentEncoding" | "contentMediaType" | "contentSchema" => "content",
        "unevaluatedItems" | "unevaluatedProperties" if is_newest => "unevaluated",
        "title" | "description" | "default" | "deprecated" | "readOnly" | "writeOnly" | "examples" => {
            "meta-data"
        }
        name if name.starts_with('$') => "core",
        _ => match keyword.shape {
            Shape::Schema | Shape::Schemas | Shape::SchemaOrSchemas | Shape::SchemaMap => "applicator",
            _ => "validation",
        },
    };
    own == vocabulary
}

/// A meta-schema with some of the keywords of its draft.
fn write(draft: Draft, address: &str, includes: impl Fn(&Keyword) -> bool) -> Value {
    let definitions = if draft <= Draft::Draft7 { "definitions" } else { "$defs" };
    let types = if draft == Draft::Draft4 { json!("object") } else { json!(["object", "boolean"]) };
    let properties: Map<String, Value> = keywords(draft)
        .filter(|keyword| includes(keyword))
        .map(|keyword| (keyword.name.to_owned(), describe(keyword.shape, draft)))
        .collect();
    let mut schema = json!({
        "$schema": draft.address(),
        draft.id_keyword(): address,
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
