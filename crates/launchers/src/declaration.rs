//! `launcher` in metadata or in `server.meta.json`, as its author wrote it. What it stands for depends on the launchers of
//! the project, so it is resolved later (`launchers.rs`).

use crate::error::LauncherError;
use serde_json::{Map, Value};

/// One `launcher`.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub(crate) says: Says,
    /// The author's JSON.
    written: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Says {
    /// On the host of the server, whatever the default of the project.
    Here,
    Named(String),
    Members(Map<String, Value>),
}

/// The word for the host of the server.
pub(crate) const HERE: &str = "here";

impl Declaration {
    /// Reads the JSON text of a `launcher`.
    pub fn parse(text: &str) -> Result<Self, LauncherError> {
        let says = match serde_json::from_str(text) {
            Ok(Value::String(word)) if word == HERE => Says::Here,
            Ok(Value::String(name)) => Says::Named(name),
            Ok(Value::Object(members)) => Says::Members(members),
            Ok(_) => return Err(LauncherError::Shape),
            Err(error) => return Err(LauncherError::Json(error.to_string())),
        };
        Ok(Self { says, written: text.to_owned() })
    }

    /// As its author wrote it.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether it says that the tool runs on the host of the server.
    pub fn is_here(&self) -> bool {
        self.says == Says::Here
    }
}
