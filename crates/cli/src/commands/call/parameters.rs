//! Parameters of a tool, as far as a command line needs them: names, types and help.

use serde_json::Value;

/// The arguments that a tool declares.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) list: Vec<Parameter>,
    /// Whether it takes others as well.
    pub(crate) takes_others: bool,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: ParameterKind,
    pub(crate) is_required: bool,
    /// Whether `null` is a value of it.
    pub(crate) is_nullable: bool,
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    /// Its possible values, if they are listed.
    pub(crate) choices: Vec<String>,
}

/// How a value is made from its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    Text,
    Number,
    Integer,
    Boolean,
    List(Box<ParameterKind>),
    Object,
    /// Several types, none of which is text.
    Json,
}

impl Parameters {
    /// The parameters of an input schema.
    pub(crate) fn of(schema: &Value) -> Self {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object();
        let list: Vec<Parameter> = properties
            .into_iter()
            .flatten()
            .map(|(name, property)| {
                parameter(name, resolved(property, schema), schema, required.contains(&&**name))
            })
            .collect();
        // An undeclared name is more likely a typo than an additional property that JSON Schema would allow.
        let says_so =
            |keyword: &str| schema.get(keyword).is_some_and(|said| *said == true || said.is_object());
        let takes_others = list.is_empty() || says_so("additionalProperties") || says_so("patternProperties");
        Self { list, takes_others }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Parameter> {
        self.list.iter().find(|parameter| parameter.name == name)
    }
}

fn parameter(name: &str, property: &Value, root: &Value, is_required: bool) -> Parameter {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (kind, is_nullable) = kind_of(property, root);
    let value = besides_null(property);
    let listed = match &kind {
        ParameterKind::List(_) => &value["items"]["enum"],
        _ => &value["enum"],
    };
    Parameter {
        name: name.to_owned(),
        kind,
        is_required,
        is_nullable,
        description: property["description"]
            .as_str()
            .or(property["title"].as_str())
            .unwrap_or_default()
            .to_owned(),
        default: property.get("default").map(shown),
        choices: listed.as_array().into_iter().flatten().map(shown).collect(),
    }
}

/// The schema that a reference within the same document leads to, or the schema itself.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// The schema of a value that is not null, if it may be null.
pub(crate) fn besides_null(schema: &Value) -> &Value {
    let mut others =
        schema["anyOf"].as_array().into_iter().flatten().filter(|choice| choice["type"] != "null");
    match (others.next(), others.next()) {
        (Some(only), None) => only,
        _ => schema,
    }
}

/// The type of a value by its schema, and whether it may be `null`. The default is text.
fn kind_of(schema: &Value, root: &Value) -> (ParameterKind, bool) {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return kind_without_type(schema, root),
    };
    let is_nullable = types.contains(&"null");
    let kinds = types.iter().filter(|name| **name != "null").map(|name| kind_named(name, schema, root));
    (joined(kinds), is_nullable)
}

fn kind_named(name: &str, schema: &Value, root: &Value) -> ParameterKind {
    match name {
        "number" => ParameterKind::Number,
        "integer" => ParameterKind::Integer,
        "boolean" => ParameterKind::Boolean,
        "object" => ParameterKind::Object,
        // A command line can express only one level without JSON.
        "array" => match kind_of(resolved(&schema["items"], root), &Value::Null).0 {
            ParameterKind::List(_) => ParameterKind::List(Box::new(ParameterKind::Json)),
            kind => ParameterKind::List(Box::new(kind)),
        },
        _ => ParameterKind::Text,
    }
}

fn kind_without_type(schema: &Value, root: &Value) -> (ParameterKind, bool) {
    if let Some(branches) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let is_null = |branch: &&Value| branch["type"] == "null";
        let is_typed = |branch: &&Value| branch.get("type").is_some_and(Value::is_string);
        let typed = branches.iter().map(|branch| resolved(branch, root));
        let kinds = typed.clone().filter(is_typed).filter(|branch| !is_null(branch));
        let kinds: Vec<ParameterKind> = kinds
            .map(|branch| kind_named(branch["type"].as_str().unwrap_or_default(), branch, root))
            .collect();
        return (joined(kinds.into_iter()), typed.clone().any(|branch| is_null(&branch)));
    }
    let values = schema["enum"].as_array();
    let is_text = values.is_none_or(|values| values.iter().any(Value::is_string));
    let is_nullable = values.is_some_and(|values| values.contains(&Value::Null));
    (if is_text { ParameterKind::Text } else { ParameterKind::Json }, is_nullable)
}

/// The kind of a value that is one of several: text if it may be, since every word is a text.
fn joined(kinds: impl Iterator<Item = ParameterKind>) -> ParameterKind {
    let mut kinds: Vec<ParameterKind> = kinds.collect();
    kinds.dedup();
    match kinds.len() {
        0 => ParameterKind::Text,
        1 => kinds.remove(0),
        _ if kinds.contains(&ParameterKind::Text) => ParameterKind::Text,
        _ => ParameterKind::Json,
    }
}

impl ParameterKind {
    /// The type as help names it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Boolean => "boolean".to_owned(),
            Self::List(item) => format!("list of {}", item.name()),
            Self::Object => "object as JSON".to_owned(),
            Self::Json => "JSON".to_owned(),
        }
    }

    /// The expected value, for messages.
    fn wanted(&self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Integer => "an integer",
            Self::Boolean => "true or false",
            Self::List(_) => "a list: a JSON array, or one item at a time",
            Self::Object => "a JSON object",
            Self::Json => "JSON",
        }
    }
}

impl Parameter {
    /// The JSON for a word on the command line, or what is expected instead. Numbers keep their spelling.
    pub(crate) fn read(&self, text: &str) -> Result<String, &'static str> {
        if self.is_nullable && text == "null" && self.kind != ParameterKind::Text {
            return Ok(text.to_owned());
        }
        read(&self.kind, text)
    }
}

fn read(kind: &ParameterKind, text: &str) -> Result<String, &'static str> {
    let json = || is_json(text);
    let fits = match kind {
        ParameterKind::Text => return Ok(Value::from(text).to_string()),
        ParameterKind::Number | ParameterKind::Integer => {
            json() && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        }
        ParameterKind::Boolean => text == "true" || text == "false",
        ParameterKind::List(_) if text.starts_with('[') => json(),
        ParameterKind::List(item) => return read(item, text).map(|item| format!("[{item}]")),
        ParameterKind::Object => text.starts_with('{') && json(),
        ParameterKind::Json => json(),
    };
    if fits { Ok(text.to_owned()) } else { Err(kind.wanted()) }
}

/// Whether a text is one JSON value.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok_and(|value| value.get() == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_as(property: &Value, text: &str) -> Result<String, &'static str> {
        let schema = json!({ "properties": { "x": property }, "$defs": { "count": { "type": "integer" } } });
        Parameters::of(&schema).list[0].read(text)
    }

    #[test]
    fn a_word_becomes_what_the_schema_declares() {
        for (property, text, value) in [
            (json!({ "type": "string" }), "5", r#""5""#),
            (json!({}), "true", r#""true""#),
            (json!({ "type": "number" }), "1.10", "1.10"),
            (json!({ "type": "integer" }), "12345678901234567890123", "12345678901234567890123"),
            (json!({ "type": "boolean" }), "false", "false"),
            (json!({ "type": ["integer", "null"] }), "null", "null"),
            (json!({ "type": ["integer", "string"] }), "5", r#""5""#),
            (json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }), "5", "5"),
            (json!({ "type": "array", "items": { "type": "integer" } }), "5", "[5]"),
            (json!({ "type": "array" }), "[1, 2]", "[1, 2]"),
            (json!({ "type": "object" }), r#"{"a":1.0}"#, r#"{"a":1.0}"#),
            (json!({ "$ref": "#/$defs/count" }), "7", "7"),
            (json!({ "enum": [1, 2] }), "2", "2"),
        ] {
            assert_eq!(read_as(&property, text).as_deref(), Ok(value), "{property}");
        }
    }

    #[test]
    fn the_choices_of_a_value_that_may_be_null_are_known() {
        let choice = json!({ "type": "string", "enum": ["a", "b"] });
        for property in [choice.clone(), json!({ "anyOf": [choice, { "type": "null" }] })] {
            let parameters = Parameters::of(&json!({ "properties": { "x": property } }));
            assert_eq!(parameters.list[0].choices, ["a", "b"], "{property}");
        }
    }

    #[test]
    fn a_word_of_another_type_is_refused() {
        for (property, text) in [
            (json!({ "type": "integer" }), "five"),
            (json!({ "type": "number" }), "true"),
            (json!({ "type": "number" }), " 5"),
            (json!({ "type": "boolean" }), "yes"),
            (json!({ "type": "object" }), "[]"),
            (json!({ "type": "array", "items": { "type": "integer" } }), "x"),
            (json!({ "type": "array" }), "[1,"),
            (json!({ "type": ["integer", "boolean"] }), "x"),
        ] {
            assert!(read_as(&property, text).is_err(), "{property} {text}");
        }
    }
}
