//! What the providers of popular models refuse in the schema of a tool's input, though JSON Schema allows it.

use crate::bounds;
use crate::excerpt::quoted;
use serde_json::Value;

/// Whether the schema says that the value is an object, in the only way in which MCP lets it be said.
pub fn is_object_schema(text: &str) -> bool {
    bounds::read(text).is_ok_and(|schema| has_object_type(&schema))
}

/// One sentence for each thing a provider is known to refuse. A tool with such a schema works with some models only.
pub fn provider_warnings(text: &str) -> Vec<String> {
    let schema = match bounds::read(text) {
        Ok(schema) => schema,
        Err(error) => return vec![error.to_string()],
    };
    let mut warnings = Vec::new();
    if !has_object_type(&schema) {
        warnings
            .push("the schema does not say `\"type\": \"object\"` at its top, which MCP requires".to_owned());
    }
    for keyword in ["anyOf", "oneOf", "allOf", "not", "enum"] {
        if schema.get(keyword).is_some() {
            warnings.push(format!(
                "the schema has `{keyword}` at its top, which Anthropic or OpenAI refuse; move it into a property"
            ));
        }
    }
    walk(&schema, "", &mut warnings);
    warnings
}

fn has_object_type(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// Looks through a schema and what it holds. Where data could be mistaken for a schema, as in `default`, it is passed
/// over.
fn walk(value: &Value, path: &str, warnings: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let below = format!("{path}/{name}");
                match (name.as_str(), inner) {
                    ("const" | "default" | "enum" | "examples", _) => {}
                    ("$ref", Value::String(target)) if !target.starts_with('#') => {
                        let (target, path) = (quoted(target), quoted(&format!("#{path}")));
                        warnings
                            .push(format!("the `$ref` to {target} at {path} leads outside of the schema"));
                    }
                    ("properties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            check_name(name, &below, warnings);
                            walk(property, &format!("{below}/{name}"), warnings);
                        }
                    }
                    _ => walk(inner, &below, warnings),
                }
            }
        }
        Value::Array(elements) => {
            for (number, inner) in elements.iter().enumerate() {
                walk(inner, &format!("{path}/{number}"), warnings);
            }
        }
        _ => {}
    }
}

fn check_name(name: &str, path: &str, warnings: &mut Vec<String>) {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if !(1..=64).contains(&name.len()) || !name.bytes().all(allowed) {
        let (name, path) = (quoted(name), quoted(&format!("#{path}")));
        warnings.push(format!(
            "the property {name} in {path} has a name Anthropic refuses; use up to 64 of `a-z A-Z 0-9 _ . -`"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_schema_has_no_warnings() {
        let text = r##"{"type": "object", "properties": {"a_b.c-D9": {"$ref": "#/$defs/x"},
            "b": {"default": {"$ref": "http://x"}, "anyOf": [{"type": "null"}, {"type": "string"}]}},
            "$defs": {"x": {"type": "string"}}}"##;
        assert_eq!(provider_warnings(text), Vec::<String>::new());
        assert!(is_object_schema(text));
    }

    #[test]
    fn says_what_providers_refuse() {
        let long = "x".repeat(65);
        let text = format!(
            r#"{{"anyOf": [], "allOf": [], "properties": {{"é": {{}}, "": {{}}, "{long}": {{"items":
            {{"$ref": "https://example.com/a.json", "properties": {{"a b": true}}}}}}}}}}"#
        );
        let warnings = provider_warnings(&text).join("\n");
        for expected in [
            "does not say `\"type\": \"object\"`",
            "has `anyOf` at its top",
            "has `allOf` at its top",
            "the property `é` in `#/properties`",
            "the property `` in `#/properties`",
            &format!("the property `{long}`"),
            "the property `a b` in",
            "the `$ref` to `https://example.com/a.json` at",
        ] {
            assert!(warnings.contains(expected), "{expected}:\n{warnings}");
        }
        assert_eq!(warnings.lines().count(), 8);
    }

    #[test]
    fn an_object_schema_says_so_at_its_top() {
        for text in ["{}", "true", "[", r#"{"type": ["object"]}"#, r#"{"allOf": [{"type": "object"}]}"#] {
            assert!(!is_object_schema(text), "{text}");
        }
        assert_eq!(provider_warnings("[").len(), 1);
    }
}
