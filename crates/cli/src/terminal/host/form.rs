//! `elicitation/create`: a form is asked field by field, a URL is shown. An invalid answer is explained and asked again.

use super::person::Person;
use mcp_bash_schema::Schema;
use serde_json::{Map, Value, json};

/// The line that declines.
const DECLINE: &str = "!";

/// How the user left a field, or the whole form.
enum Left {
    Declined,
    Cancelled,
}

/// The result of the request: an action, and for a form the content.
pub(super) fn fill(person: &mut Person, params: &Value) -> Value {
    person.show(&format!("\n{}\n", params["message"].as_str().unwrap_or("The server asks:")));
    let filled = match params["mode"].as_str() {
        Some("url") => visit(person, params).map(|()| None),
        _ => fields(person, &params["requestedSchema"]).map(Some),
    };
    match filled {
        Ok(Some(content)) => json!({ "action": "accept", "content": content }),
        Ok(None) => json!({ "action": "accept" }),
        Err(Left::Declined) => json!({ "action": "decline" }),
        Err(Left::Cancelled) => json!({ "action": "cancel" }),
    }
}

fn visit(person: &mut Person, params: &Value) -> Result<(), Left> {
    person.show(&format!("Open this in a browser: {}\n", params["url"].as_str().unwrap_or_default()));
    match person.line("Enter when you have agreed, `!` declines, Ctrl-D cancels: ") {
        None => Err(Left::Cancelled),
        Some(line) if line.trim() == DECLINE => Err(Left::Declined),
        Some(_) => Ok(()),
    }
}

fn fields(person: &mut Person, schema: &Value) -> Result<Map<String, Value>, Left> {
    person.show("(Enter takes the default or leaves out, `!` declines, Ctrl-D cancels)\n");
    let mut content = Map::new();
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
    else {
        // A form without fields asks for consent.
        return match person.line("Agree? [y/N] ") {
            None => Err(Left::Cancelled),
            Some(line) if matches!(line.trim(), "y" | "Y" | "yes") => Ok(content),
            Some(_) => Err(Left::Declined),
        };
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in properties {
        let field = Field::new(name, field, required.contains(&&**name));
        if let Some(value) = field.ask(person)? {
            content.insert(name.clone(), value);
        }
    }
    Ok(content)
}

/// A value that can be chosen, and its name.
struct Choice {
    value: Value,
    title: String,
}

struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    is_required: bool,
    /// Several may be chosen.
    is_several: bool,
    choices: Vec<Choice>,
}

impl<'a> Field<'a> {
    fn new(name: &'a str, schema: &'a Value, is_required: bool) -> Self {
        let is_several = schema["type"] == "array";
        let listed = if is_several { &schema["items"] } else { schema };
        Self { name, schema, is_required, is_several, choices: choices(listed, schema) }
    }

    /// Asks until the answer is valid. `None` if the field is left out.
    fn ask(&self, person: &mut Person) -> Result<Option<Value>, Left> {
        let title = self.schema["title"].as_str().unwrap_or(self.name);
        if let Some(description) = self.schema["description"].as_str() {
            person.show(&format!("{description}\n"));
        }
        for (index, choice) in self.choices.iter().enumerate() {
            person.show(&format!("  {}) {}\n", index + 1, choice.title));
        }
        let default = self.schema.get("default").filter(|default| !default.is_null());
        let prompt = format!("{title}{}: ", self.note(default));
        loop {
            let line = person.line(&prompt).ok_or(Left::Cancelled)?;
            let line = line.trim();
            match line {
                DECLINE => return Err(Left::Declined),
                "" if default.is_some() => return Ok(default.cloned()),
                "" if !self.is_required => return Ok(None),
                "" => {
                    person.show("An answer is required.\n");
                    continue;
                }
                _ => {}
            }
            match self.read(line).and_then(|value| self.checked(value)) {
                Ok(value) => return Ok(Some(value)),
                Err(problem) => person.show(&format!("{problem}\n")),
            }
        }
    }

    /// The possible answers, in brackets.
    fn note(&self, default: Option<&Value>) -> String {
        let kind = match self.schema["type"].as_str() {
            _ if self.is_several => "numbers or names, separated by commas",
            _ if !self.choices.is_empty() => "a number or a name",
            Some("boolean") => "y/n",
            Some("integer") => "integer",
            Some("number") => "number",
            _ => self.schema["format"].as_str().unwrap_or("text"),
        };
        let default = match default {
            Some(Value::Bool(yes)) => format!(", default {}", if *yes { "y" } else { "n" }),
            Some(Value::String(text)) => format!(", default {text}"),
            Some(other) => format!(", default {other}"),
            None if self.is_required => String::new(),
            None => ", optional".to_owned(),
        };
        format!(" [{kind}{default}]")
    }

    fn read(&self, line: &str) -> Result<Value, String> {
        if self.is_several && !self.choices.is_empty() {
            let several: Result<Vec<Value>, String> = line
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(|word| self.chosen(word))
                .collect();
            return several.map(Value::Array);
        }
        if !self.choices.is_empty() {
            return self.chosen(line);
        }
        match self.schema["type"].as_str() {
            Some("boolean") => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err("y or n, please".to_owned()),
            },
            Some("integer") => {
                line.parse::<i64>().map(Value::from).map_err(|_| "a whole number, please".to_owned())
            }
            Some("number") => match serde_json::from_str::<Value>(line) {
                Ok(number @ Value::Number(_)) => Ok(number),
                _ => Err("a number, please".to_owned()),
            },
            Some("array") => Ok(line.split(',').map(|item| Value::from(item.trim())).collect()),
            _ => of_format(self.schema["format"].as_str(), line).map(|()| line.into()),
        }
    }

    fn chosen(&self, word: &str) -> Result<Value, String> {
        let by_number =
            word.parse::<usize>().ok().and_then(|number| self.choices.get(number.wrapping_sub(1)));
        let is_named = |choice: &&Choice| choice.title == word || choice.value == word;
        let chosen = self.choices.iter().find(is_named).or(by_number);
        chosen.map(|choice| choice.value.clone()).ok_or_else(|| format!("`{word}` is none of the choices"))
    }

    /// The value, if it satisfies the schema.
    fn checked(&self, value: Value) -> Result<Value, String> {
        let mut form = json!({ "type": "object", "properties": {} });
        form["properties"][self.name] = self.schema.clone();
        // An unusable schema must not prevent an answer.
        let Ok(schema) = Schema::compile(&form.to_string()) else { return Ok(value) };
        let mut content = json!({});
        content[self.name] = value.clone();
        match schema.check(&content.to_string()) {
            Ok(_) => Ok(value),
            Err(problems) => Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        }
    }
}

/// The values of `enum`, or of `oneOf`/`anyOf` with `const` and `title`.
fn choices(listed: &Value, schema: &Value) -> Vec<Choice> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(values) = listed["enum"].as_array() {
        let title = |index: usize| schema["enumNames"][index].as_str().map(ToOwned::to_owned);
        let choice = |(index, value): (usize, &Value)| Choice {
            value: value.clone(),
            title: title(index).unwrap_or_else(|| text(value)),
        };
        return values.iter().enumerate().map(choice).collect();
    }
    let branches = listed["oneOf"].as_array().or(listed["anyOf"].as_array());
    let choice = |branch: &Value| {
        let value = branch.get("const")?.clone();
        let title = branch["title"].as_str().map_or_else(|| text(&value), ToOwned::to_owned);
        Some(Choice { value, title })
    };
    branches.into_iter().flatten().filter_map(choice).collect()
}

/// Checks the formats that forms may ask for, as far as a typo shows.
fn of_format(format: Option<&str>, line: &str) -> Result<(), String> {
    let digits = |pattern: &str| {
        line.len() >= pattern.len()
            && pattern.bytes().zip(line.bytes()).all(|(wanted, byte)| match wanted {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    let (fits, wanted) = match format {
        Some("email") => {
            let parts = line.split_once('@');
            (
                parts.is_some_and(|(who, host)| !who.is_empty() && host.contains('.')),
                "an address such as me@example.org",
            )
        }
        Some("uri") => (
            line.split_once(':').is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty()),
            "a URI such as https://example.org/",
        ),
        Some("date") => (digits("0000-00-00") && line.len() == 10, "a date such as 2025-12-31"),
        Some("date-time") => (digits("0000-00-00T00:00:00"), "a time such as 2025-12-31T23:59:59Z"),
        _ => return Ok(()),
    };
    if fits { Ok(()) } else { Err(format!("{wanted}, please")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(lines: &'static str, schema: &Value) -> Value {
        let mut person = Person::who_types(lines, std::io::sink());
        fill(&mut person, &json!({ "message": "Say", "requestedSchema": schema }))
    }

    fn one(lines: &'static str, field: &Value) -> Value {
        let filled =
            filled(lines, &json!({ "type": "object", "properties": { "x": field }, "required": ["x"] }));
        if filled["action"] == "accept" { filled["content"]["x"].clone() } else { filled["action"].clone() }
    }

    #[test]
    fn each_field_is_asked_by_its_type_until_it_fits() {
        for (lines, field, value) in [
            ("me\n", json!({ "type": "string" }), json!("me")),
            ("\nme\n", json!({ "type": "string" }), json!("me")),
            ("\n", json!({ "type": "string", "default": "you" }), json!("you")),
            ("abc\na\n", json!({ "type": "string", "maxLength": 2 }), json!("a")),
            ("x\n0\n7\n", json!({ "type": "integer", "minimum": 1 }), json!(7)),
            ("perhaps\nYES\n", json!({ "type": "boolean" }), json!(true)),
            ("4\nred\n", json!({ "enum": ["red", "blue"], "type": "string" }), json!("red")),
            (
                "2\n",
                json!({ "oneOf": [{ "const": "r", "title": "Red" }, { "const": "b", "title": "Blue" }], "type": "string" }),
                json!("b"),
            ),
            (
                "1, b\n",
                json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } }),
                json!(["a", "b"]),
            ),
            (
                "1\n1,2\n",
                json!({ "type": "array", "minItems": 2, "items": { "enum": ["a", "b"] } }),
                json!(["a", "b"]),
            ),
            ("me\nme@example.org\n", json!({ "type": "string", "format": "email" }), json!("me@example.org")),
            ("1.50\n", json!({ "type": "number" }), json!(1.5)),
            ("!\n", json!({ "type": "string" }), json!("decline")),
            ("", json!({ "type": "string" }), json!("cancel")),
        ] {
            assert_eq!(one(lines, &field), value, "{field}");
        }
    }

    #[test]
    fn optional_fields_can_be_left_out_and_a_form_without_fields_asks_for_consent() {
        let optional = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "integer" } } });
        assert_eq!(filled("\n2\n", &optional), json!({ "action": "accept", "content": { "b": 2 } }));
        let empty = json!({ "type": "object", "properties": {} });
        assert_eq!(filled("y\n", &empty), json!({ "action": "accept", "content": {} }));
        assert_eq!(filled("\n", &empty), json!({ "action": "decline" }));
    }

    #[test]
    fn a_url_is_shown_and_agreed_to() {
        let visited = |lines| {
            let mut person = Person::who_types(lines, std::io::sink());
            fill(
                &mut person,
                &json!({ "mode": "url", "message": "Log in", "url": "https://example.org/", "elicitationId": "1" }),
            )
        };
        assert_eq!(visited("\n"), json!({ "action": "accept" }));
        assert_eq!(visited("!\n"), json!({ "action": "decline" }));
        assert_eq!(visited(""), json!({ "action": "cancel" }));
    }
}
