//! Header parameters: arguments of tools that clients repeat in headers of their HTTP requests, because their schema has an
//! `x-mcp-header`. Clients drop a whole tool if one of its annotations breaks a rule, so we do not send them such an
//! annotation.

use mcp_bash_wire::{Limits, Raw, Scanner};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use thiserror::Error;

/// The annotation.
pub(crate) const ANNOTATION: &str = "x-mcp-header";

/// The prefix of all these headers.
const PREFIX: &str = "Mcp-Param-";

/// Keywords whose value is an object of schemas by name.
const NAMED_SCHEMAS: [&str; 5] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// Keywords whose value is data, not a schema.
const DATA: [&str; 5] = ["default", "const", "enum", "examples", "example"];

/// An argument that clients repeat in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderParameter {
    /// The whole name of the header.
    pub header: String,
    /// The names that lead to the argument, from the object of all arguments.
    pub path: Vec<String>,
}

/// An annotation that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    /// The schema that has it, as a JSON pointer.
    pointer: String,
    rule: BrokenRule,
}

/// The rule that an annotation breaks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum BrokenRule {
    #[error("it stands where the argument is not reached through `properties` alone; move it to a property")]
    NotAProperty,
    #[error("it must be a string; write the end of a header's name")]
    NotAString,
    #[error("{0} cannot be part of a header's name; use letters, digits and hyphens")]
    NotAToken(Value),
    #[error("its `type` must be string, integer or boolean, and is {0}; take the annotation away")]
    OtherType(String),
    #[error("another argument has {0} already; give each a name of its own")]
    Taken(Value),
}

/// The arguments that clients repeat in headers, from the `inputSchema` of a tool. Annotations that break a rule are
/// ignored.
pub fn header_parameters(input_schema: &str) -> Vec<HeaderParameter> {
    find(input_schema).0
}

/// The schema without the annotations for which clients would drop `tool`; each of them is reported. `None` if there are no
/// such annotations.
pub(crate) fn without_faults(
    tool: &str,
    schema: &RawValue,
    problems: &mut Vec<String>,
) -> Option<Box<RawValue>> {
    let (_, faults) = find(schema.get());
    if faults.is_empty() {
        return None;
    }
    problems.extend(faults.iter().map(|fault| {
        format!(
            "the tool `{tool}` is served without the `{ANNOTATION}` of `inputSchema{}`, for which clients would drop it: {}",
            fault.pointer, fault.rule
        )
    }));
    let whole = Scanner::new(schema.get(), Limits::NONE).whole_value().ok()?;
    RawValue::from_string(without(whole, "", &faults)).ok()
}

/// Whether all annotations follow the rules.
pub(crate) fn are_faultless(schema: &RawValue) -> bool {
    find(schema.get()).1.is_empty()
}

fn find(schema: &str) -> (Vec<HeaderParameter>, Vec<Fault>) {
    let mut found = Search::default();
    // Most schemas have none, and need not be parsed for it.
    if schema.contains(ANNOTATION)
        && let Ok(schema) = serde_json::from_str(schema)
    {
        found.look_at(&schema, "", Some(&[]));
    }
    (found.parameters, found.faults)
}

#[derive(Default)]
struct Search {
    parameters: Vec<HeaderParameter>,
    faults: Vec<Fault>,
}

impl Search {
    /// Checks the schema at `pointer`. `path` leads to the argument it describes, if only `properties` lead there.
    fn look_at(&mut self, schema: &Value, pointer: &str, path: Option<&[String]>) {
        match schema {
            Value::Object(schema) => {
                if let Some(annotation) = schema.get(ANNOTATION) {
                    match self.parameter(annotation, schema, path) {
                        Ok(parameter) => self.parameters.push(parameter),
                        Err(rule) => self.faults.push(Fault { pointer: pointer.to_owned(), rule }),
                    }
                }
                for (keyword, value) in schema {
                    self.look_into(keyword, value, &format!("{pointer}/{}", escaped(keyword)), path);
                }
            }
            Value::Array(schemas) => {
                for (index, schema) in schemas.iter().enumerate() {
                    self.look_at(schema, &format!("{pointer}/{index}"), None);
                }
            }
            _ => {}
        }
    }

    fn look_into(&mut self, keyword: &str, value: &Value, pointer: &str, path: Option<&[String]>) {
        if DATA.contains(&keyword) {
            return;
        }
        let Some(named) = value.as_object().filter(|_| NAMED_SCHEMAS.contains(&keyword)) else {
            return self.look_at(value, pointer, None);
        };
        for (name, schema) in named {
            let path = path.filter(|_| keyword == "properties");
            let path = path.map(|path| path.iter().chain([name]).cloned().collect::<Vec<_>>());
            self.look_at(schema, &format!("{pointer}/{}", escaped(name)), path.as_deref());
        }
    }

    fn parameter(
        &self,
        annotation: &Value,
        schema: &Map<String, Value>,
        path: Option<&[String]>,
    ) -> Result<HeaderParameter, BrokenRule> {
        let path = path.filter(|path| !path.is_empty()).ok_or(BrokenRule::NotAProperty)?;
        let name = annotation.as_str().ok_or(BrokenRule::NotAString)?;
        if !is_token(name) {
            return Err(BrokenRule::NotAToken(annotation.clone()));
        }
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("none");
        if !["string", "integer", "boolean"].contains(&kind) {
            return Err(BrokenRule::OtherType(kind.to_owned()));
        }
        let header = format!("{PREFIX}{name}");
        if self.parameters.iter().any(|known| known.header.eq_ignore_ascii_case(&header)) {
            return Err(BrokenRule::Taken(annotation.clone()));
        }
        Ok(HeaderParameter { header, path: path.to_vec() })
    }
}

/// Whether the text can be part of a header's name: a token of RFC 9110.
fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// A name, escaped for a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The text of a schema without the wrong annotations. The rest keeps its author's spelling.
fn without(value: Raw<'_>, pointer: &str, faults: &[Fault]) -> String {
    if !value.text().contains(ANNOTATION) {
        return value.text().to_owned();
    }
    let mut parts = Vec::new();
    // The text was parsed before, so it is valid.
    if value.is_object() {
        let is_at_fault = faults.iter().any(|fault| fault.pointer == pointer);
        let _ = Scanner::again(value).members(|key, value| {
            let name = key.string().unwrap_or_default();
            if !(is_at_fault && name == ANNOTATION) {
                let value = without(value, &format!("{pointer}/{}", escaped(&name)), faults);
                parts.push(format!("{}:{value}", key.text()));
            }
        });
        return format!("{{{}}}", parts.join(","));
    }
    if value.is_array() {
        let _ = Scanner::again(value).elements(|element| {
            parts.push(without(element, &format!("{pointer}/{}", parts.len()), faults));
        });
        return format!("[{}]", parts.join(","));
    }
    value.text().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cleaned(schema: &Value) -> (Option<Value>, Vec<String>) {
        let raw = RawValue::from_string(schema.to_string()).unwrap();
        let mut problems = Vec::new();
        let text = without_faults("t", &raw, &mut problems);
        (text.map(|text| serde_json::from_str(text.get()).unwrap()), problems)
    }

    #[test]
    fn annotations_that_keep_the_rules_are_found_wherever_properties_lead() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "plain": { "type": "string" },
            "deep": { "type": "object", "properties": {
                "a/b": { "type": "integer", "x-mcp-header": "Depth" },
            } },
            // A property may have this name, and a default may hold anything.
            "x-mcp-header": { "type": "string", "default": { "x-mcp-header": 1 } },
        } });
        let found = header_parameters(&schema.to_string());
        let found: Vec<_> = found.iter().map(|found| (&*found.header, found.path.join(" "))).collect();
        assert_eq!(
            found,
            [("Mcp-Param-Region", "region".to_owned()), ("Mcp-Param-Depth", "deep a/b".to_owned())]
        );
        assert_eq!(cleaned(&schema), (None, Vec::new()));
    }

    #[test]
    fn annotations_that_break_a_rule_are_reported_and_removed() {
        let rows = [
            (json!({ "type": "string", "x-mcp-header": "a b" }), "cannot be part of a header's name"),
            (json!({ "type": "string", "x-mcp-header": "" }), "cannot be part of a header's name"),
            (json!({ "type": "string", "x-mcp-header": "é" }), "cannot be part of a header's name"),
            (json!({ "type": "string", "x-mcp-header": "a\r\nb" }), "cannot be part of a header's name"),
            (json!({ "type": "string", "x-mcp-header": 1 }), "must be a string"),
            (json!({ "type": "number", "x-mcp-header": "A" }), "and is number"),
            (json!({ "type": ["string", "null"], "x-mcp-header": "A" }), "and is none"),
            (json!({ "x-mcp-header": "A" }), "and is none"),
            (json!({ "type": "string", "x-mcp-header": "OTHER" }), "has \"OTHER\" already"),
        ];
        for (property, words) in rows {
            let schema = json!({ "properties": {
                "other": { "type": "string", "x-mcp-header": "Other" }, "arg": property.clone(),
            } });
            let (text, problems) = cleaned(&schema);
            let [problem] = &*problems else { panic!("{problems:?}") };
            assert!(
                problem.contains("`x-mcp-header` of `inputSchema/properties/arg`, for which"),
                "{problem}"
            );
            assert!(problem.contains(words), "{problem}");
            let mut expected = schema.clone();
            expected["properties"]["arg"].as_object_mut().unwrap().shift_remove("x-mcp-header");
            assert_eq!(text, Some(expected), "{property}");
            assert_eq!(header_parameters(&schema.to_string()).len(), 1, "the other one still counts");
        }
    }

    #[test]
    fn annotations_that_properties_alone_do_not_reach_are_taken_away() {
        let annotated = json!({ "type": "string", "x-mcp-header": "A" });
        let rows = [
            (json!({ "x-mcp-header": "A" }), ""),
            (json!({ "properties": { "a": { "items": annotated } } }), "/properties/a/items"),
            (json!({ "anyOf": [{ "properties": { "a": annotated } }] }), "/anyOf/0/properties/a"),
            (json!({ "properties": { "a": { "oneOf": [annotated] } } }), "/properties/a/oneOf/0"),
            (json!({ "if": { "properties": { "a": annotated } } }), "/if/properties/a"),
            (json!({ "$defs": { "a~/b": annotated } }), "/$defs/a~0~1b"),
            (json!({ "patternProperties": { ".": annotated } }), "/patternProperties/."),
            (json!({ "additionalProperties": annotated }), "/additionalProperties"),
        ];
        for (schema, pointer) in rows {
            let (text, problems) = cleaned(&schema);
            let expected = format!("`x-mcp-header` of `inputSchema{pointer}`, for");
            assert!(problems.len() == 1 && problems[0].contains(&expected), "{problems:?}");
            assert!(!text.unwrap().to_string().contains(ANNOTATION));
        }
    }

    #[test]
    fn valid_annotations_stay_unchanged() {
        let text = r#"{"properties":{"a":{"type":"number","maximum":1.10,"x-mcp-header":"A"},"b":{"enum":[1e2,{"x-mcp-header":1}]}}}"#;
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let cleaned = without_faults("t", &raw, &mut Vec::new()).unwrap();
        assert_eq!(cleaned.get(), text.replace(r#","x-mcp-header":"A""#, ""));
        assert!(are_faultless(&cleaned) && !are_faultless(&raw));
    }
}
