//! `user_config`: what a client asks the user for, and the variables that the answers are given in. Secrets that scripts
//! declare are asked for without being shown.

use super::ManifestFacts;
use serde_json::{Map, Value, json};

/// A secret that scripts need and that the server reads from a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretInput {
    pub name: String,
    pub title: String,
    /// The variable that the server looks in.
    pub variable: String,
    /// What needs it, as in "tool issues".
    pub users: Vec<String>,
}

pub(super) struct UserConfig {
    pub(super) entries: Map<String, Value>,
    pub(super) variables: Map<String, Value>,
    pub(super) notes: Vec<String>,
}

impl UserConfig {
    pub(super) fn new(facts: &ManifestFacts<'_>) -> Self {
        let (mut entries, mut variables, mut notes) = (facts.user_config.clone(), Map::new(), Vec::new());
        for (key, entry) in &mut entries {
            complete(key, entry, &mut notes);
        }
        for (key, variable) in &facts.about.variables {
            variables.insert(variable.clone(), reference(key));
        }
        for secret in facts
            .secrets
            .iter()
            .filter(|secret| !variables.contains_key(&secret.variable))
            .collect::<Vec<_>>()
        {
            let key = free_key(&secret.name, &entries);
            entries.insert(key.clone(), secret.entry());
            variables.insert(secret.variable.clone(), reference(&key));
        }
        Self { entries, variables, notes }
    }
}

impl SecretInput {
    fn entry(&self) -> Value {
        json!({
            "type": "string",
            "title": self.title,
            "description": format!("A secret, used by {}. It is given to nothing else.", self.users.join(", ")),
            "sensitive": true,
            // A client leaves the placeholder of an empty entry in place, which would be taken for the secret.
            "required": true,
        })
    }
}

fn reference(key: &str) -> Value {
    format!("${{user_config.{key}}}").into()
}

/// The name of a secret as a key that no entry has.
fn free_key(name: &str, entries: &Map<String, Value>) -> String {
    let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '_' };
    let mut key: String = name.chars().map(plain).collect();
    while entries.contains_key(&key) {
        key.push('_');
    }
    key
}

/// The description is optional for authors, and required by the format.
fn complete(key: &str, entry: &mut Value, notes: &mut Vec<String>) {
    let Some(members) = entry.as_object_mut() else { return };
    if !members.contains_key("description") {
        let title = members.get("title").cloned().unwrap_or_else(|| key.into());
        members.insert("description".to_owned(), title);
    }
    if members.get("required") != Some(&Value::Bool(true)) && !members.contains_key("default") {
        notes.push(format!(
            "`user_config.{key}` is neither required nor has a default: if the user leaves it empty, scripts receive the text \
             `${{user_config.{key}}}`"
        ));
    }
}
