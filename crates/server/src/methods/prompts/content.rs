//! Prompt messages: converts what authors write into protocol messages, fills placeholders and embeds project files.

use super::error::PromptError;
use super::values::Values;
use crate::methods::tools::resources_file::file_uri;
use crate::replies::shape;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_budget::{Budget, Charge, tree_bytes};
use mcp_bash_fetch::{ErrorKind, FetchError, Roots, sniff};
use mcp_bash_project::{Paths, Prompt};
use mcp_bash_wire::{Revision, surrogates};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the messages of one result.
pub(super) struct Writer<'a> {
    pub(super) prompt: &'a Prompt,
    pub(super) paths: &'a Paths,
    /// The values of the placeholders. `None` for a script, which has filled in its own.
    pub(super) values: Option<&'a Values>,
    /// The most bytes of a file, and of the texts and files of all messages together.
    pub(super) limit: usize,
    pub(super) revision: Revision,
    pub(super) spent: Spent,
}

/// The bytes and the memory used so far.
pub(super) struct Spent {
    bytes: Cell<usize>,
    held: RefCell<Charge>,
}

/// How many copies of a text exist while it is added to a result.
const COPIES: usize = 3;

impl Spent {
    pub(super) fn nothing(budget: &Arc<Budget>) -> Self {
        Self { bytes: Cell::new(0), held: RefCell::new(Charge::nothing(budget)) }
    }

    fn hold(&self, bytes: usize) -> Result<(), PromptError> {
        let mut held = self.held.borrow_mut();
        let all = held.bytes() + bytes;
        Ok(held.grow_to(all)?)
    }
}

impl Writer<'_> {
    /// One message with this text.
    pub(super) fn text(&self, text: &str) -> Result<String, PromptError> {
        let content = json!({ "type": "text", "text": self.fill(text)? });
        Ok(format!("[{}]", shape::message(self.prompt.role, &content.to_string(), self.revision)))
    }

    /// Parses a JSON text.
    pub(super) fn parse(&self, text: &str) -> Result<serde_json::Result<Value>, PromptError> {
        self.spent.hold(tree_bytes(text))?;
        Ok(serde_json::from_str(&surrogates::repaired(text)))
    }

    /// Writes the messages as JSON array.
    pub(super) fn messages(&self, messages: &[Value]) -> Result<String, PromptError> {
        let mut written = String::from("[");
        for (index, message) in messages.iter().enumerate() {
            let wrong = |error| PromptError::InMessage { index, cause: Box::new(error) };
            let role = self.role(message).map_err(wrong)?;
            // Some authors write several contents where only one is allowed: each becomes its own message.
            let contents = match &message["content"] {
                Value::Array(contents) => contents.iter().collect(),
                content => vec![content],
            };
            for content in contents {
                let content = self.content(content).map_err(wrong)?;
                if written.len() > 1 {
                    written.push(',');
                }
                written.push_str(&shape::message(role, &content.to_string(), self.revision));
            }
        }
        written.push(']');
        Ok(written)
    }

    fn role(&self, message: &Value) -> Result<&'static str, PromptError> {
        match &message["role"] {
            _ if !message.is_object() => Err("must be an object with `role` and `content`".into()),
            Value::Null => Ok(self.prompt.role),
            role if role == "user" => Ok("user"),
            role if role == "assistant" => Ok("assistant"),
            role => Err(PromptError::Role(role.clone())),
        }
    }

    fn content(&self, content: &Value) -> Result<Value, PromptError> {
        if let Value::String(text) = content {
            return Ok(json!({ "type": "text", "text": self.fill(text)? }));
        }
        let mut content = content.clone();
        let members = content.as_object_mut().ok_or("must have text or an object as `content`")?;
        if let Some(path) = members.remove("path") {
            let path = path.as_str().ok_or("must have a string as `path`")?;
            let named = members.clone();
            return self.embedded(path, named.into());
        }
        if let Some(path) =
            content.get_mut("resource").and_then(|inner| inner.as_object_mut()?.remove("path"))
        {
            let path = path.as_str().ok_or("must have a string as `path`")?.to_owned();
            let described = content["resource"].take();
            content["type"] = "resource".into();
            let mut embedded = self.embedded(&path, content)?;
            for key in ["uri", "mimeType"] {
                if let Some(text) = described[key].as_str() {
                    embedded["resource"][key] = self.fill(text)?.into();
                }
            }
            return Ok(embedded);
        }
        let required: &[&str] = match content["type"].as_str() {
            Some("text") => &["/text"],
            Some("image" | "audio") => &["/data", "/mimeType"],
            Some("resource") => &["/resource/uri"],
            Some("resource_link") => &["/uri", "/name"],
            _ => {
                return Err(
                    "must have `text`, `image`, `audio`, `resource` or `resource_link` as the `type` \
                            of its content"
                        .into(),
                );
            }
        };
        if let Some(lacking) =
            required.iter().find(|place| !content.pointer(place).is_some_and(Value::is_string))
        {
            return Err(PromptError::Lacks(lacking[1..].replace('/', ".")));
        }
        if content["type"] == "resource" {
            let inner = &content["resource"];
            if !inner["text"].is_string() && !inner["blob"].is_string() {
                return Err("lacks `text`, `blob` or `path` in its `resource`".into());
            }
        }
        for place in ["/text", "/uri", "/resource/uri", "/resource/text"] {
            if let Some(Value::String(text)) = content.pointer_mut(place) {
                *text = self.fill(text)?;
            }
        }
        Ok(content)
    }

    /// Embeds a file as content of the requested type, or else of the type that suits it.
    fn embedded(&self, path: &str, mut content: Value) -> Result<Value, PromptError> {
        let (bytes, file) = self.read(path)?;
        let size = bytes.len();
        let sniffed = sniff(&bytes, Some(path));
        let mime_type = content["mimeType"].as_str().unwrap_or(sniffed.mime_type).to_owned();
        let suitable = ["image", "audio"].into_iter().find(|kind| mime_type.starts_with(kind));
        let kind = content["type"].as_str().or(suitable).unwrap_or("resource").to_owned();
        let unsuitable = || PromptError::Unsuitable {
            path: path.to_owned(),
            kind: kind.clone(),
            mime_type: mime_type.clone(),
        };
        content["type"] = kind.clone().into();
        match &*kind {
            "text" => {
                let text = String::from_utf8(bytes).map_err(|_| unsuitable())?;
                content["text"] = self.fill(text.trim_end_matches('\n'))?.into();
            }
            "image" | "audio" => {
                if !mime_type.starts_with(&kind) {
                    return Err(unsuitable());
                }
                self.spend(size)?;
                content["data"] = STANDARD.encode(&bytes).into();
                content["mimeType"] = mime_type.into();
            }
            "resource" => {
                if let Some(members) = content.as_object_mut() {
                    members.remove("mimeType");
                }
                self.spend(size)?;
                content["resource"] = match String::from_utf8(bytes) {
                    Ok(text) if sniffed.is_text => {
                        json!({ "uri": file_uri(&file), "mimeType": mime_type, "text": text })
                    }
                    Ok(text) => blob(&file, &mime_type, text.as_bytes()),
                    Err(binary) => blob(&file, &mime_type, binary.as_bytes()),
                };
            }
            _ => return Err(PromptError::NoPath(kind)),
        }
        Ok(content)
    }

    /// Reads a file of the project. A relative path starts at the folder of the prompt.
    pub(super) fn read(&self, path: &str) -> Result<(Vec<u8>, PathBuf), PromptError> {
        let folder = self.prompt.file.parent().unwrap_or(&self.paths.prompts);
        let file = folder.join(path);
        let roots = Roots::new([self.paths.root.clone(), self.paths.prompts.clone()]);
        let content = roots.read(&file, self.limit as u64).map_err(|error| self.unread(path, error))?;
        Ok((content.bytes, file))
    }

    fn unread(&self, path: &str, error: FetchError) -> PromptError {
        match error.kind() {
            ErrorKind::TooLarge => PromptError::FileTooLarge { path: path.to_owned(), limit: self.limit },
            ErrorKind::Refused if !matches!(error, FetchError::NotAFile { .. }) => {
                PromptError::Outside(path.to_owned())
            }
            _ => PromptError::Unreadable(error),
        }
    }

    /// Fills the placeholders of a text, if all messages together stay within the limit.
    fn fill(&self, text: &str) -> Result<String, PromptError> {
        let left = self.limit - self.spent.bytes.get();
        let filled = match self.values {
            Some(values) => values.fill(text, left).ok_or(PromptError::TooLarge(self.limit))?,
            None => text.to_owned(),
        };
        self.spend(filled.len())?;
        Ok(filled)
    }

    fn spend(&self, bytes: usize) -> Result<(), PromptError> {
        let spent = self.spent.bytes.get() + bytes;
        if spent > self.limit {
            return Err(PromptError::TooLarge(self.limit));
        }
        self.spent.bytes.set(spent);
        self.spent.hold(COPIES * bytes)
    }
}

fn blob(file: &Path, mime_type: &str, bytes: &[u8]) -> Value {
    json!({ "uri": file_uri(file), "mimeType": mime_type, "blob": STANDARD.encode(bytes) })
}
