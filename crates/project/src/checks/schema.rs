//! Whether arguments can fit `inputSchema`, and results `outputSchema`.

use crate::json::LONGEST;
use crate::json_place::{follow, place_of};
use crate::listing::metadata_stem;
use crate::{Catalog, Diagnostic, Tool};
use mcp_bash_schema::{Schema, contradictions};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The schema of a tool that declares none.
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// Looks at the schemas of all tools. `metadata` are the metadata files that are read.
pub(super) fn check(catalog: &Catalog, metadata: &[PathBuf], found: &mut Vec<Diagnostic>) {
    let mut by_folder: HashMap<&Path, Vec<&Path>> = HashMap::new();
    for file in metadata {
        by_folder.entry(file.parent().unwrap_or(file)).or_default().push(file);
    }
    // Of tools that say nothing about their arguments there is nothing to check, and many servers have no others.
    let is_trivial = |tool: &Tool| tool.input_schema.get() == NO_ARGUMENTS && tool.output_schema.is_none();
    for tool in catalog.tools.items().iter().filter(|tool| !is_trivial(tool)) {
        let source = Source::of(tool, &by_folder);
        check_one(&tool.input_schema, "inputSchema", "arguments", &source, found);
        if let Some(schema) = &tool.output_schema {
            check_one(schema, "outputSchema", "result", &source, found);
        }
    }
}

/// Where a schema was written.
struct Source<'a> {
    file: &'a Path,
    /// The text, if it is JSON.
    text: Option<String>,
}

impl<'a> Source<'a> {
    fn of(tool: &'a Tool, by_folder: &HashMap<&Path, Vec<&'a Path>>) -> Self {
        let name = tool.script.file_name().unwrap_or_default();
        let stem = tool.script.file_stem().unwrap_or_default();
        let speaks = |file: &&&Path| {
            let own = file.file_name().and_then(metadata_stem);
            own.is_some_and(|own| own == name.as_encoded_bytes() || own == stem.as_encoded_bytes())
        };
        let beside = tool.script.parent().and_then(|folder| by_folder.get(folder));
        let file = beside.and_then(|files| files.iter().find(speaks)).copied().unwrap_or(&tool.script);
        let is_json = file.extension().is_some_and(|ending| ending == "json");
        let text = if is_json { mcp_bash_files::read_text(file, LONGEST).ok() } else { None };
        Self { file, text }
    }

    /// The place of what a JSON Pointer leads to from `key` on.
    fn place(&self, key: &str, pointer: &str) -> Option<(u64, u64)> {
        let text = self.text.as_deref()?;
        let names: Vec<String> =
            pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
        let value =
            follow(text.trim_start_matches('\u{feff}'), [key].into_iter().chain(names.iter().map(|n| &**n)))?;
        place_of(value.text(), text)
    }
}

fn check_one(schema: &RawValue, key: &str, what: &str, source: &Source<'_>, found: &mut Vec<Diagnostic>) {
    let wrong = |problem: String, remedy: &str| Diagnostic::error(source.file, problem, remedy);
    if let Err(error) = Schema::compile(schema.get()) {
        let problem = format!("has an `{key}` that cannot be used, so that every call fails: {error}");
        let (problem, remedy) = match problem.rsplit_once("; ") {
            Some((problem, remedy)) => (problem.to_owned(), remedy.to_owned()),
            None => (problem, "mend the schema".to_owned()),
        };
        // The words of the validator name the place between backticks.
        let pointer = problem.split('`').find(|part| part.starts_with('/')).unwrap_or_default().to_owned();
        found.push(wrong(problem, &remedy).at(source.place(key, &pointer)));
        return;
    }
    let Ok(contradictions) = contradictions(schema.get()) else { return };
    for contradiction in contradictions.found {
        let place = match &*contradiction.pointer {
            "" => format!("`{key}`"),
            pointer => format!("`{key}{pointer}`"),
        };
        let problem = format!("{place}: {}", contradiction.problem);
        let diagnostic = if contradictions.is_never {
            wrong(format!("{problem}; so no {what} can ever fit"), "mend the schema")
        } else {
            Diagnostic::warning(source.file, problem, "mend the schema")
        };
        found.push(diagnostic.at(source.place(key, &contradiction.pointer)));
    }
}
