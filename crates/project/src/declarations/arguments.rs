//! Arguments of a prompt, read from either of the two forms.

use crate::declarations::error::{EntryError, within, wrong_value};
use mcp_bash_wire::{Limits, Object, Raw, Scanner};
use serde_json::value::RawValue;

/// One argument of a prompt.
#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub required: bool,
    /// The value that replaces it if it is absent.
    pub default: Option<String>,
    /// The author's JSON Schema for its values.
    pub schema: Box<RawValue>,
}

/// Reads a list of arguments, as clients see it, or a JSON Schema of an object that holds them.
pub(crate) fn read(written: &RawValue) -> Result<Vec<Argument>, EntryError> {
    let whole = Scanner::new(written.get(), Limits::NONE).whole_value()?;
    if whole.is_array() {
        return read_list(whole);
    }
    if !whole.is_object() {
        return Err(wrong_value("arguments", "be an object or an array", whole.kind(), ""));
    }
    let schema = Object::read(whole, "arguments", &["properties", "required"])?;
    let mut required = Vec::new();
    if let Some(names) = schema.get("required").filter(|names| names.is_array()) {
        Scanner::new(names.text(), Limits::NONE)
            .elements(|name| required.extend(name.string().map(std::borrow::Cow::into_owned)))?;
    }
    let properties = schema.optional_object("properties").map_err(within("arguments"))?;
    let mut properties_in_order = Vec::new();
    if let Some(properties) = properties {
        Scanner::new(properties.text(), Limits::NONE)
            .members(|name, schema| properties_in_order.extend(name.string().map(|name| (name, schema))))?;
    }
    let arguments = properties_in_order.into_iter().map(|(name, schema)| {
        let is_required = required.iter().any(|known| *known == name);
        argument(name.into_owned(), schema, is_required)
    });
    arguments.collect()
}

/// Why the text is not a list of arguments, if it is not. `null` means none.
pub(crate) fn problem(written: &RawValue) -> Option<EntryError> {
    if written.get() == "null" { None } else { read(written).err() }
}

fn read_list(list: Raw<'_>) -> Result<Vec<Argument>, EntryError> {
    let mut elements = Vec::new();
    Scanner::new(list.text(), Limits::NONE).elements(|element| elements.push(element))?;
    let arguments = elements.into_iter().enumerate().map(|(index, element)| {
        let read = Object::read(element, "it", &["name", "required"]);
        let read = read.and_then(|members| {
            let is_required = members.get("required").is_some_and(|required| required.text() == "true");
            Ok((members.string("name")?.into_owned(), is_required))
        });
        let (name, is_required) = read.map_err(within(format!("arguments[{index}]")))?;
        argument(name, element, is_required)
    });
    arguments.collect()
}

fn argument(name: String, schema: Raw<'_>, required: bool) -> Result<Argument, EntryError> {
    // `true` is a schema too, without any constraint.
    let text = if schema.is_object() { schema.text() } else { "{}" };
    let whole = Scanner::new(text, Limits::NONE).whole_value()?;
    let members = Object::read(whole, "a property", &["title", "description", "default"])
        .map_err(within(format!("arguments.{name}")))?;
    let words = |key| members.get(key).and_then(Raw::string).map(std::borrow::Cow::into_owned);
    // A number keeps its author's spelling.
    let default = members.get("default").filter(|default| !default.is_null());
    let default =
        default.map(|default| default.string().map_or_else(|| default.text().to_owned(), Into::into));
    let schema = RawValue::from_string(text.to_owned()).map_err(within("arguments"))?;
    Ok(Argument { title: words("title"), description: words("description"), name, required, default, schema })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<Vec<String>, EntryError> {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let told = |Argument { name, description, required, default, .. }: Argument| {
            format!("{name} {description:?} {required} {default:?}")
        };
        read(&raw).map(|arguments| arguments.into_iter().map(told).collect())
    }

    #[test]
    fn both_forms_say_the_same_in_their_own_order() {
        let schema = r#"{"type":"object","required":["b"],"properties":{"b":{"description":"B"},"a":{"default":1.50}}}"#;
        let list = r#"[{"name":"b","description":"B","required":true},{"name":"a","default":1.50}]"#;
        let expected = [r#"b Some("B") true None"#, r#"a None false Some("1.50")"#];
        assert_eq!(told(schema).unwrap(), expected);
        assert_eq!(told(list).unwrap(), expected);
        assert!(told("{}").unwrap().is_empty());
    }

    #[test]
    fn errors_are_named() {
        for (text, problem) in [
            ("5", "an object or an array"),
            (r#"[{"name": "a"}, {}]"#, "`arguments[1]`: `name` is missing"),
            (r#"["a"]"#, "`arguments[0]`"),
            (r#"{"properties": []}"#, "`properties` must be an object"),
        ] {
            let refused = told(text).unwrap_err().to_string();
            assert!(refused.contains(problem), "{problem} in {refused}");
        }
    }
}
