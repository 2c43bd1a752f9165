//! Metadata: what an author says about a tool, a prompt or a resource, in a JSON or YAML file beside it or in a comment
//! inside it.

use crate::declarations::client_capability::ClientCapability;
use crate::declarations::error::EntryError;
use crate::ground::json::{JsonError, LONGEST, deepest, require_shallow, too_deep};
use crate::ground::wrong_type::describe_wrong_type;
use mcp_bash_files::shortage::noted;
use mcp_bash_wire::{surrogates, write};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The fields of metadata, for all kinds. The author's own JSON is kept as text.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Option<Box<RawValue>>,
    /// The arguments of a prompt, or the old name of `inputSchema`.
    pub(crate) arguments: Option<Box<RawValue>>,
    pub(crate) output_schema: Option<Box<RawValue>>,
    pub(crate) annotations: Option<Box<RawValue>>,
    pub(crate) icons: Option<Box<RawValue>>,
    #[serde(rename = "_meta")]
    pub(crate) underscored: Option<Box<RawValue>>,
    pub(crate) timeout_secs: Option<u64>,
    pub(crate) progress_extends_timeout: Option<bool>,
    pub(crate) max_timeout_secs: Option<u64>,
    pub(crate) timeout_hint: Option<String>,
    /// The exit codes besides 0 that count as an answer, not as a failure.
    pub(crate) success_exit_codes: Option<Vec<u8>>,
    /// The capabilities without which a client cannot use the script.
    pub(crate) required_capabilities: Option<Vec<ClientCapability>>,
    /// The scopes that a token must have for a call of the tool.
    pub(crate) scopes: Option<Vec<String>>,
    /// Whether a script may run again if its process ended before it received the answer to a question.
    pub(crate) replay: Option<bool>,
    /// Whether a script reads the client's roots from its environment.
    pub(crate) needs_roots: Option<bool>,
    /// Whether a person is asked before the tool runs, or with which question.
    pub(crate) confirm: Option<Box<RawValue>>,
    /// Whether a call of the tool can be a task.
    pub(crate) execution: Option<Box<RawValue>>,
    /// The folder that a tool runs in.
    pub(crate) cwd: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) uri_template: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) provider: Option<ProviderField>,
    /// The role that speaks in a prompt.
    pub(crate) role: Option<String>,
    /// The messages of a prompt.
    pub(crate) messages: Option<Box<RawValue>>,
    /// The author's other notes about a prompt.
    #[serde(rename = "metadata")]
    pub(crate) notes: Option<Box<RawValue>>,
    /// The path of the script, for tools that are registered rather than found.
    pub(crate) path: Option<String>,
    /// How the arguments of a tool reach its script: as words, in variables, on standard input.
    pub(crate) argv: Option<Box<RawValue>>,
    /// The same for variables, or the names of variables that a tool needs.
    pub(crate) env: Option<Box<RawValue>>,
    pub(crate) stdin: Option<Box<RawValue>>,
    /// The command of a tool that has no script.
    pub(crate) command: Option<Box<RawValue>>,
    /// The arguments that may hold any text even where a program may interpret it, and why that is safe.
    pub(crate) unrestricted_arguments: Option<Box<RawValue>>,
    /// Whether the process of a tool stays alive, and for how long.
    pub(crate) worker: Option<Box<RawValue>>,
    /// What the script may do.
    pub(crate) sandbox: Option<Box<RawValue>>,
    /// What starts the tool on another host.
    pub(crate) launcher: Option<Box<RawValue>>,
    /// The secrets that the script needs.
    pub(crate) secrets: Option<Box<RawValue>>,
}

/// The value of `provider`.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`provider` must be the name of who reads a resource, or `true`")]
pub(crate) enum ProviderField {
    /// The provider that reads a resource.
    Reader(String),
    /// Whether an executable is asked for its tools.
    Mark(bool),
}

/// Which resources metadata describes.
pub(crate) enum Uris<'a> {
    /// One, with this URI if it is given.
    One(Option<&'a str>),
    /// All resources of a template.
    Family(&'a str),
}

/// How many lines of a script are searched for its metadata.
const HEADER_LINES: usize = 10;

impl Metadata {
    /// Reads a metadata file, in the format of its extension.
    pub(crate) fn from_file(path: &Path) -> Result<Self, EntryError> {
        Self::from_opened(path, &mcp_bash_files::open(path)?)
    }

    /// Reads an opened metadata file.
    pub(crate) fn from_opened(path: &Path, file: &File) -> Result<Self, EntryError> {
        let text = mcp_bash_files::read_all_text(file, LONGEST)?;
        if path.extension().is_some_and(|extension| extension == "json") {
            return Ok(Self::from_json(&text)?);
        }
        let value = yaml(&text)?;
        Ok(Self::from_json(&value.to_string()).map_err(|error| in_yaml(error, &text))?)
    }

    /// Whether all its JSON is shallow enough for clients. It comes from a registry that may have been edited.
    pub(crate) fn is_shallow(&self) -> bool {
        let all = [
            &self.input_schema,
            &self.arguments,
            &self.output_schema,
            &self.annotations,
            &self.icons,
            &self.underscored,
            &self.messages,
            &self.notes,
            &self.argv,
            &self.env,
            &self.stdin,
            &self.command,
            &self.unrestricted_arguments,
            &self.worker,
            &self.sandbox,
            &self.launcher,
            &self.secrets,
        ];
        all.into_iter().flatten().all(|value| require_shallow(value.get()).is_ok())
    }

    /// The name of the provider that reads a resource.
    pub(crate) fn reader(&self) -> Option<&str> {
        match &self.provider {
            Some(ProviderField::Reader(name)) => Some(name),
            Some(ProviderField::Mark(_)) | None => None,
        }
    }

    /// Whether it marks an executable that provides tools.
    pub(crate) fn provides_tools(&self) -> bool {
        matches!(self.provider, Some(ProviderField::Mark(true)))
    }

    /// Whether it describes one resource or a family of them; both at once is an error. An empty value counts as absent.
    pub(crate) fn uris(&self) -> Result<Uris<'_>, EntryError> {
        let uri = self.uri.as_deref().filter(|uri| !uri.is_empty());
        let template = self.uri_template.as_deref().filter(|template| !template.is_empty());
        match (uri, template) {
            (Some(_), Some(_)) => {
                Err("it has both `uri` and `uriTemplate`, and can only be one thing; leave one out".into())
            }
            (uri, None) => Ok(Uris::One(uri)),
            (None, Some(template)) => Ok(Uris::Family(template)),
        }
    }

    pub(crate) fn from_json(text: &str) -> Result<Self, JsonError> {
        // Leading blank lines stay, so that line numbers match the author's file.
        let text = &*surrogates::repaired(text.trim_start_matches('\u{feff}').trim_end());
        // The first pass tells whether it is JSON at all, the second what the author meant.
        serde_json::from_str::<&RawValue>(text)?;
        require_shallow(text)?;
        if !text.trim_start().starts_with('{') {
            return Err(JsonError::NotAnObject);
        }
        let read = serde_json::from_str(&write::compact(text));
        read.map_err(|error| {
            describe_wrong_type::<Self>(text).unwrap_or_else(|| {
                // The columns of the compacted text are not the author's.
                JsonError::from(error).moved(|_| None)
            })
        })
    }

    /// The JSON after `mcp:` in a comment near the top of a script, if there is one.
    pub(crate) fn inline(script: &Path) -> Result<Option<Self>, EntryError> {
        let Ok(file) = mcp_bash_files::open(script) else { return Ok(None) };
        // A compiled program has no lines to speak of: only its beginning is read.
        let header = BufReader::new(file.take(16 * 1024)).split(b'\n').take(HEADER_LINES);
        for (index, line) in header.map_while(|line| line.map_err(noted).ok()).enumerate() {
            // A compiled program has no comments. A line in another encoding is not metadata, but may stand above it.
            if line.contains(&0) {
                return Ok(None);
            }
            let line = String::from_utf8_lossy(&line);
            if let Some(json) = inline_json(&line) {
                if json.contains(char::REPLACEMENT_CHARACTER) {
                    return Err(EntryError::InlineNotText(index + 1));
                }
                let in_file = |(_, column)| Some((index as u64 + 1, column));
                let read = Self::from_json(json).map(Some);
                return read.map_err(|error| EntryError::Inline(error.moved(in_file)));
            }
        }
        Ok(None)
    }
}

/// The JSON after `mcp:` near the top of a script, and its line, counted from 0.
pub(crate) fn inline_in(script: &str) -> Option<(usize, &str)> {
    let mut header = script.lines().take(HEADER_LINES).enumerate();
    header.find_map(|(index, line)| Some((index, inline_json(line)?)))
}

pub(crate) fn yaml(text: &str) -> Result<serde_json::Value, EntryError> {
    let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_depth: deepest() } };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let is_depth = |breach: &BudgetBreach| matches!(breach, BudgetBreach::Depth { .. });
        match error.without_snippet() {
            Error::Budget { breach, .. } if is_depth(breach) => JsonError::from(too_deep()).into(),
            // The YAML parser looks ahead, and has a limit of its own that it does not distinguish from other errors.
            other if other.to_string().contains("recursion limit exceeded") => {
                JsonError::from(too_deep()).into()
            }
            other => EntryError::Yaml(first_line(&other.to_string())),
        }
    })
}

/// A message of the YAML parser, with the position as the JSON parser writes it.
fn first_line(words: &str) -> String {
    words.lines().next().unwrap_or_default().replace(", column ", " column ")
}

/// The error of metadata that was converted from YAML to JSON, with the line of its key in the YAML.
fn in_yaml(error: JsonError, text: &str) -> JsonError {
    let line = match &error {
        JsonError::Member { key, .. } => yaml_line(text, key),
        _ => None,
    };
    error.moved(|_| line.map(|line| (line as u64, 1)))
}

/// The line of a top-level key in a YAML text, counted from 1.
pub(crate) fn yaml_line(text: &str, key: &str) -> Option<usize> {
    let is_key = |line: &str| {
        let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
    };
    text.lines().position(is_key).map(|index| index + 1)
}

/// The text after `mcp:` in a line that is a comment.
fn inline_json(line: &str) -> Option<&str> {
    let (comment, json) = line.split_once("mcp:")?;
    let is_comment = comment.trim_start().starts_with(['#', '/', '-', ';', '%']);
    Some(json.trim()).filter(|json| is_comment && json.starts_with('{'))
}

/// A text without the metadata line near its top, which is not part of it.
pub fn without_metadata(text: &str) -> String {
    let mut header = text.split_inclusive('\n').take(HEADER_LINES);
    match header.find(|line| inline_json(line).is_some()) {
        Some(line) => text.replacen(line, "", 1),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The description in a script's own comment, or the error.
    fn described(script: &[u8]) -> Result<Option<String>, String> {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("tool.sh");
        std::fs::write(&file, script).unwrap();
        let found = Metadata::inline(&file).map_err(|error| error.to_string())?;
        Ok(found.and_then(|metadata| metadata.description))
    }

    #[test]
    fn a_comment_in_another_encoding_does_not_hide_the_metadata_below() {
        let latin = b"#!/bin/sh\n# Gr\xf6\xdfe\n# mcp: {\"description\": \"Shows sizes\"}\n";
        assert_eq!(described(latin), Ok(Some("Shows sizes".into())));
        let wrong = described(b"#!/bin/sh\n# mcp: {\"description\": \"Gr\xf6\xdfe\"}\n").unwrap_err();
        assert_eq!(wrong, "the `mcp:` line: line 2 is not UTF-8 text; save the file as UTF-8");
        assert_eq!(described(b"\x7fELF\0\n# mcp: {\"description\": \"x\"}\n"), Ok(None));
    }
}
