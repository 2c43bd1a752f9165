//! Imported tool: a tool without a script, and the metadata that defines it.

use crate::argument::Argument;
use crate::effect::Effect;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// As clients and models accept it.
    pub name: String,
    /// Its name in the file it comes from.
    pub origin: String,
    pub description: String,
    pub arguments: Vec<Argument>,
    /// The elements of `command`.
    pub command: Vec<Value>,
    /// The effect that its name suggests.
    pub effect: Option<Effect>,
}

impl Tool {
    /// The content of its metadata file.
    pub fn metadata(&self) -> Value {
        let properties: Map<String, Value> =
            self.arguments.iter().map(|argument| (argument.name.clone(), argument.schema())).collect();
        let required: Vec<&str> = self
            .arguments
            .iter()
            .filter(|argument| argument.is_required)
            .map(|argument| &*argument.name)
            .collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema["additionalProperties"] = false.into();
        let mut metadata = json!({ "name": self.name, "description": self.description });
        metadata["inputSchema"] = schema;
        metadata["command"] = self.command.clone().into();
        if let Some(effect) = self.effect {
            metadata["annotations"] = effect.annotations();
        }
        metadata
    }

    /// The command in words: groups in brackets, flags as they are.
    pub fn command_words(&self) -> String {
        let word = |value: &Value| match value {
            Value::String(word) if word.is_empty() || word.contains([' ', '\t']) => format!("'{word}'"),
            Value::String(word) => word.clone(),
            Value::Object(flag) => format!("[{}]", flag["flag"].as_str().unwrap_or_default()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                format!("[{}]", words.join(" "))
            }
            other => other.to_string(),
        };
        self.command.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}
