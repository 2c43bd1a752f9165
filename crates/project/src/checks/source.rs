//! Source positions: the file in which a tool is described, and the line of each part of the description.

use super::beginning;
use crate::declarations::metadata::{inline_in, yaml_line};
use crate::ground::json::LONGEST;
use crate::ground::json_place::{follow, members, place_of};
use crate::walk::listing::metadata_stem;
use crate::{Catalog, Diagnostic, Tool};
use mcp_bash_wire::Scanner;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How much of a script is read for its own description, in bytes.
const HEADER: u64 = 16 * 1024;

/// All places where tools are described.
pub(super) struct Sources<'a> {
    by_folder: HashMap<&'a Path, Vec<&'a Path>>,
    registration: Option<Registration>,
}

/// The tools in `server.d/register.json`.
struct Registration {
    file: PathBuf,
    text: String,
    /// The index of each entry, by name.
    entries: HashMap<String, usize>,
}

/// Where one tool is described.
pub(super) struct ToolSource<'a> {
    pub(super) file: &'a Path,
    text: Text<'a>,
}

enum Text<'a> {
    Json(String),
    Yaml(String),
    /// A line of the script.
    Inline(u64),
    Registered(&'a str, usize),
    Nowhere,
}

impl<'a> Sources<'a> {
    /// `metadata` are the metadata files that are read.
    pub(super) fn new(catalog: &Catalog, metadata: &'a [PathBuf]) -> Self {
        let mut by_folder: HashMap<&Path, Vec<&Path>> = HashMap::new();
        for file in metadata {
            by_folder.entry(file.parent().unwrap_or(file)).or_default().push(file);
        }
        Self { by_folder, registration: Registration::read(catalog) }
    }

    pub(super) fn of(&'a self, tool: &'a Tool) -> ToolSource<'a> {
        if let Some(registered) = &self.registration
            && let Some(index) = registered.entries.get(&tool.name)
        {
            let text = Text::Registered(&registered.text, *index);
            return ToolSource { file: &registered.file, text };
        }
        let name = tool.script.file_name().unwrap_or_default();
        let stem = tool.script.file_stem().unwrap_or_default();
        let speaks = |file: &&&Path| {
            let is_itself = **file == tool.script;
            let own = file.file_name().and_then(metadata_stem);
            is_itself
                || own.is_some_and(|own| own == name.as_encoded_bytes() || own == stem.as_encoded_bytes())
        };
        let beside = tool.script.parent().and_then(|folder| self.by_folder.get(folder));
        let Some(file) = beside.and_then(|files| files.iter().find(speaks)).copied() else {
            let header = beginning(&tool.script, HEADER);
            let line = inline_in(&header).map(|(line, _)| line as u64 + 1);
            return ToolSource { file: &tool.script, text: line.map_or(Text::Nowhere, Text::Inline) };
        };
        let is_json = file.extension().is_some_and(|ending| ending == "json");
        let text = mcp_bash_files::read_text(file, LONGEST).ok();
        let text = text.map_or(Text::Nowhere, if is_json { Text::Json } else { Text::Yaml });
        ToolSource { file, text }
    }
}

impl Registration {
    fn read(catalog: &Catalog) -> Option<Self> {
        let file = catalog.paths.server.join("register.json");
        let text = mcp_bash_files::read_text(&file, LONGEST).ok()?;
        let mut entries = HashMap::new();
        let tools = follow(&text, ["tools"]).filter(|tools| tools.is_array())?;
        let mut index = 0;
        let listed = Scanner::again(tools).elements(|entry| {
            if entry.is_object() {
                members(entry, |key, value| {
                    if let Some(name) = value.string().filter(|_| key.text() == "\"name\"") {
                        entries.insert(name.into_owned(), index);
                    }
                });
            }
            index += 1;
        });
        listed.ok()?;
        Some(Self { file, text, entries })
    }
}

impl ToolSource<'_> {
    /// The finding with the position of the value that a JSON Pointer leads to from `key`.
    pub(super) fn mark(&self, found: Diagnostic, key: &str, pointer: &str) -> Diagnostic {
        match &self.text {
            Text::Json(text) => found.at(place(text, &[key], pointer)),
            Text::Registered(text, index) => {
                found.at(place(text, &["tools", &index.to_string(), key], pointer))
            }
            Text::Yaml(text) => match yaml_line(text, key) {
                Some(line) => found.at_line(line as u64),
                None => found,
            },
            Text::Inline(line) => found.at_line(*line),
            Text::Nowhere => found,
        }
    }
}

fn place(text: &str, keys: &[&str], pointer: &str) -> Option<(u64, u64)> {
    let names: Vec<String> =
        pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
    let keys = keys.iter().copied().chain(names.iter().map(|name| &**name));
    let value = follow(text.trim_start_matches('\u{feff}'), keys)?;
    place_of(value.text(), text)
}
