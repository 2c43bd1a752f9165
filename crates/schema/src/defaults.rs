//! Default arguments: the `default` of each property of an `inputSchema`, for arguments that the caller leaves out. So
//! a script need not repeat what its schema says. Only properties at the top level of the schema count.

use mcp_bash_wire::{Limits, Object, Raw, Scanner};
use std::borrow::Cow;

/// The arguments that have a default, each with its text as a member of an object.
#[derive(Debug, Default)]
pub struct Defaults(Vec<Member>);

#[derive(Debug)]
struct Member {
    name: String,
    text: String,
}

impl Defaults {
    /// Reads the defaults of a schema, the text of a JSON object. A default of `null` counts as none.
    pub fn of(schema: &str) -> Self {
        let mut defaults = Self::default();
        let Ok(whole) = Scanner::new(schema, Limits::NONE).whole_value() else { return defaults };
        let properties = member(whole, "properties");
        each_member(properties, |key, property| {
            let default = member(property, "default");
            if let (Some(default), Some(name)) = (default.filter(|default| !default.is_null()), key.string())
            {
                let text = format!("{}:{}", key.text(), default.text());
                defaults.0.push(Member { name: name.into_owned(), text });
            }
        });
        defaults
    }

    /// Adds the missing arguments to `arguments`, the text of a JSON object. Given arguments stay as they were written.
    pub fn complete<'a>(&self, arguments: Cow<'a, str>) -> Cow<'a, str> {
        if self.0.is_empty() {
            return arguments;
        }
        let mut given = Vec::new();
        let whole = Scanner::new(&arguments, Limits::NONE).whole_value().ok();
        each_member(whole, |key, _| given.extend(key.string()));
        let missing = self.0.iter().filter(|member| !given.iter().any(|name| *name == member.name));
        let missing: Vec<&str> = missing.map(|member| &*member.text).collect();
        let Some(open) = arguments.trim_end().strip_suffix('}').filter(|_| !missing.is_empty()) else {
            return arguments;
        };
        let comma = if given.is_empty() { "" } else { "," };
        Cow::Owned(format!("{open}{comma}{}}}", missing.join(",")))
    }
}

fn member<'a>(object: Raw<'a>, name: &str) -> Option<Raw<'a>> {
    Object::read(object, "the schema", &[name]).ok()?.get(name)
}

fn each_member<'a>(object: Option<Raw<'a>>, visit: impl FnMut(Raw<'a>, Raw<'a>)) {
    if let Some(object) = object.filter(|object| object.is_object()) {
        let visited = Scanner::again(object).members(visit);
        debug_assert!(visited.is_ok(), "it was scanned before");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type": "object", "properties": {
        "depth": {"type": "number", "default": 1.50}, "path": {"default": {"a": [".", "\u00e9"]}},
        "none": {"default": null}, "odd": true, "plain": {"type": "string"}}}"#;

    #[test]
    fn missing_arguments_are_added_and_given_ones_stay_unchanged() {
        let defaults = Defaults::of(SCHEMA);
        for (given, completed) in [
            ("{}", r#"{"depth":1.50,"path":{"a": [".", "\u00e9"]}}"#),
            (r#"{ "path" : null }"#, r#"{ "path" : null ,"depth":1.50}"#),
            (r#"{"z":1.10,"d\u0065pth":2}"#, r#"{"z":1.10,"d\u0065pth":2,"path":{"a": [".", "\u00e9"]}}"#),
        ] {
            assert_eq!(defaults.complete(Cow::Borrowed(given)), completed);
        }
        let all = r#"{"path": "}", "depth": 1}"#;
        assert!(matches!(defaults.complete(Cow::Borrowed(all)), Cow::Borrowed(same) if same == all));
    }

    #[test]
    fn a_schema_without_defaults_changes_nothing() {
        for schema in
            [r#"{"type":"object","properties":{}}"#, r#"{"properties":{"a":{"b":{"default":1}}}}"#, "{}"]
        {
            let given = r#"{"a": {}}"#;
            let completed = Defaults::of(schema).complete(Cow::Borrowed(given));
            assert!(matches!(completed, Cow::Borrowed(same) if same == given), "{schema}");
        }
    }
}
