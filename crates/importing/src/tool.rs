//! Imported tool: a tool without a script, and the metadata that defines it.

use crate::argument::Argument;
use crate::effect::Effect;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tool {
    /// As clients and models accept it.
    pub name: String,
    /// Its name in the file it comes from.
    pub origin: String,
    pub description: String,
    pub arguments: Vec<Argument>,
    /// The elements of `command`.
    pub command: Vec<Value>,
    /// The effect that its name or its text suggests.
    pub effect: Option<Effect>,
    /// Environment variables, with the template of each value.
    pub environment: Vec<(String, String)>,
    /// Variables that the server passes on.
    pub passed: Vec<String>,
    /// The template of its standard input.
    pub input: Option<String>,
    /// The exit codes besides 0 that are answers.
    pub success_exit_codes: Vec<u8>,
    /// Programs that it calls. They are shown, and not part of the metadata.
    pub needs: Vec<String>,
    /// Why it may be incomplete or wrong.
    pub doubts: Vec<String>,
    /// What its source takes and it does not.
    pub gaps: Vec<String>,
    /// Whether its source says nothing about what it does.
    pub is_undescribed: bool,
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
        let following: Map<String, Value> = self
            .arguments
            .iter()
            .filter_map(|argument| Some((argument.name.clone(), json!([argument.follows.as_ref()?]))))
            .collect();
        if !following.is_empty() {
            schema["dependentRequired"] = following.into();
        }
        schema["additionalProperties"] = false.into();
        let mut metadata = json!({ "name": self.name, "description": self.description });
        metadata["inputSchema"] = schema;
        metadata["command"] = self.command.clone().into();
        let variables: Map<String, Value> =
            self.environment.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let mut names: Vec<Value> = self.passed.iter().map(|name| name.clone().into()).collect();
        if names.is_empty() {
            if !variables.is_empty() {
                metadata["env"] = variables.into();
            }
        } else {
            names.extend((!variables.is_empty()).then(|| variables.into()));
            metadata["env"] = names.into();
        }
        if let Some(input) = &self.input {
            metadata["stdin"] = input.clone().into();
        }
        if !self.success_exit_codes.is_empty() {
            metadata["successExitCodes"] = self.success_exit_codes.clone().into();
        }
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
