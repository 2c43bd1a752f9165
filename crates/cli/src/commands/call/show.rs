//! Result display for people: text as text, one line for each file, structure if there is no text.

use super::save::save;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use mcp_bash_terminal::for_stdout;
use mcp_bash_terminal::{harmless, harmless_line, tell};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// How the result of one call is shown.
pub(crate) struct Shown<'a> {
    /// The name of the callee, for file names.
    pub(crate) name: &'a str,
    /// The folder for files, if they are saved.
    pub(crate) save: Option<&'a Path>,
}

impl Shown<'_> {
    /// Shows a result: on standard error if it is a failure.
    pub(crate) fn result(&self, result: &Value) -> Result<(), Error> {
        let mut text = String::new();
        for content in result["content"].as_array().into_iter().flatten() {
            self.push(&mut text, content)?;
        }
        if text.is_empty()
            && let Some(structured) = result.get("structuredContent")
        {
            text = format!("{structured:#}\n");
        }
        if result["isError"] != true {
            return print(&for_stdout(text));
        }
        let text = if text.is_empty() { "the tool failed, and does not say why\n".to_owned() } else { text };
        let text = if io::stderr().is_terminal() { harmless(&text) } else { text };
        // The exit code says it too.
        let _ = io::stderr().write_all(text.as_bytes());
        Ok(())
    }

    /// Saves the files of a result, and reports on standard error where they are.
    pub(crate) fn save_files(&self, result: &Value) -> Result<(), Error> {
        for content in result["content"].as_array().into_iter().flatten() {
            let is_file = matches!(content["type"].as_str(), Some("image" | "audio"))
                || content["resource"]["blob"].is_string();
            if is_file {
                let mut line = String::new();
                self.push(&mut line, content)?;
                tell(line.trim_end());
            }
        }
        Ok(())
    }

    /// Adds one piece of content.
    pub(crate) fn push(&self, text: &mut String, content: &Value) -> Result<(), Error> {
        let named = |member: &str| content[member].as_str().unwrap_or_default();
        match named("type") {
            "text" => push_text(text, named("text")),
            kind @ ("image" | "audio") => {
                self.push_file(text, kind, self.name, named("mimeType"), named("data"))?;
            }
            "resource" => self.push_resource(text, &content["resource"])?,
            "resource_link" => {
                let about = [named("title"), named("name")].into_iter().find(|about| !about.is_empty());
                let line = format!("[link: {} {}]", named("uri"), about.unwrap_or_default());
                push_text(text, harmless_line(&line).replace(" ]", "]").as_str());
            }
            _ => push_text(text, &content.to_string()),
        }
        Ok(())
    }

    /// Adds a resource: its text, or a line about its bytes.
    pub(crate) fn push_resource(&self, text: &mut String, resource: &Value) -> Result<(), Error> {
        if let Some(own) = resource["text"].as_str() {
            push_text(text, own);
            return Ok(());
        }
        let named = |member: &str| resource[member].as_str().unwrap_or_default();
        self.push_file(text, "resource", named("uri"), named("mimeType"), named("blob"))
    }

    fn push_file(
        &self,
        text: &mut String,
        kind: &str,
        name: &str,
        mime: &str,
        data: &str,
    ) -> Result<(), Error> {
        let about = harmless_line(&format!("{kind} {mime}"));
        let Some(folder) = self.save else {
            // Four characters of Base64 are three bytes.
            let bytes = data.trim_end_matches('=').len() * 3 / 4;
            let _ = writeln!(text, "[{about}, {bytes} bytes; --save DIR keeps it]");
            return Ok(());
        };
        let (path, bytes) = save(folder, name, mime, data).map_err(|source| {
            Error::of_command(
                Exit::Failed,
                format!("failed to save the {about} in {}: {source}", folder.display()),
            )
        })?;
        let _ = writeln!(text, "[{about}, {bytes} bytes: {}]", path.display());
        Ok(())
    }
}

/// Adds a text, and a line break if it does not end with one.
fn push_text(text: &mut String, more: &str) {
    text.push_str(more);
    if !more.ends_with('\n') {
        text.push('\n');
    }
}
