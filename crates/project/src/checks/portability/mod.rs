//! Portability: names and schemas that known clients or model APIs refuse, though we serve them. The table `rules` says who
//! refuses what.

mod first_line;
mod names;
mod recursion;
mod schemas;

use super::metadata_files;
use super::source::{Sources, ToolSource};
use crate::catalog::origins::metadata_beside;
use crate::declarations::metadata::yaml_line;
use crate::declarations::refusals::names::{lesser_refusal, refusal, server_refusal, shown};
use crate::declarations::refusals::rules::{self, Rule};
use crate::ground::json::LONGEST;
use crate::ground::json_place::{follow, place_of};
use crate::{Catalog, Diagnostic, Severity, Tool};
use schemas::Refused;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// More tools than this are too many for some clients.
const MANY_TOOLS: usize = 80;

/// Everything in a project that some client or API refuses, unordered.
pub fn portability(catalog: &Catalog) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let metadata: Vec<PathBuf> = metadata_files(&catalog.paths.tools);
    let sources = Sources::new(catalog, &metadata);
    for tool in catalog.tools.items() {
        check_tool(tool, &sources.of(tool), &catalog.identity.name, &mut found);
    }
    check_names(catalog, &sources, &mut found);
    check_annotations(catalog, &sources, &mut found);
    let count = catalog.tools.len();
    if count > MANY_TOOLS {
        found.push(said(&rules::MANY_TOOLS, &catalog.paths.tools, &format!("holds {count} tools")));
    }
    check_server(catalog, &mut found);
    check_resources(catalog, &mut found);
    found
}

fn check_tool(tool: &Tool, source: &ToolSource<'_>, server: &str, found: &mut Vec<Diagnostic>) {
    if let Some(refusal) = refusal(&tool.name).or_else(|| lesser_refusal(&tool.name, server)) {
        let told = Diagnostic::warning(source.file, refusal.problem, refusal.remedy);
        found.push(source.mark(Diagnostic { severity: refusal.severity, ..told }, "name", ""));
    }
    if tool.description.as_deref().is_none_or(|text| text.trim().is_empty()) {
        let subject = format!("does not describe its tool `{}`", shown(&tool.name));
        let mut told = said(&rules::NO_DESCRIPTION, source.file, &subject);
        let language = tool.worker().and_then(|worker| worker.program.language());
        if let Some(remedy) = language.and_then(|language| language.remedy_without_description) {
            told.remedy = Some(remedy.to_owned());
        }
        found.push(told);
    } else if let Some(problem) = tool.description.as_deref().and_then(first_line::problem) {
        let subject = format!("the first line of the description of `{}` {problem}", shown(&tool.name));
        found.push(source.mark(said(&rules::FIRST_LINE, source.file, &subject), "description", ""));
    }
    let read = |schema: &RawValue| serde_json::from_str::<Value>(schema.get()).unwrap_or_default();
    for refused in schemas::refused_input(&read(&tool.input_schema)) {
        found.push(refused_in(&refused, "inputSchema", source));
    }
    for refused in tool.output_schema.iter().flat_map(|schema| schemas::refused_output(&read(schema))) {
        found.push(refused_in(&refused, "outputSchema", source));
    }
}

fn check_names(catalog: &Catalog, sources: &Sources<'_>, found: &mut Vec<Diagnostic>) {
    let tools = catalog.tools.items();
    for (index, both) in names::clashes(tools.iter().map(|tool| &*tool.name), &catalog.identity.name) {
        let source = sources.of(&tools[index]);
        let subject = format!("{both} become one");
        found.push(source.mark(said(&rules::NAMES_CLASH, source.file, &subject), "name", ""));
    }
}

/// How many tool names are shown.
const MOST_NAMES: usize = 5;

/// One finding for all tools without annotations about their effects.
fn check_annotations(catalog: &Catalog, sources: &Sources<'_>, found: &mut Vec<Diagnostic>) {
    let says = |tool: &Tool| {
        let text = tool.annotations.as_ref().map_or("{}", |annotations| annotations.get());
        let annotations: Value = serde_json::from_str(text).unwrap_or_default();
        ["readOnlyHint", "destructiveHint"].iter().any(|hint| annotations[hint].is_boolean())
    };
    let silent: Vec<_> = catalog.tools.items().iter().filter(|tool| !says(tool)).collect();
    let names = silent.iter().take(MOST_NAMES).map(|tool| format!("`{}`", shown(&tool.name)));
    let names = names.collect::<Vec<_>>().join(", ");
    let finding = match &*silent {
        [] => return,
        [tool] => {
            let subject = format!("does not annotate its tool {names}");
            said(&rules::NO_ANNOTATIONS, sources.of(tool).file, &subject)
        }
        many => {
            let more = if many.len() > MOST_NAMES { ", …" } else { "" };
            let subject = format!("holds {} tools without annotations ({names}{more})", many.len());
            said(&rules::NO_ANNOTATIONS, &catalog.paths.tools, &subject)
        }
    };
    found.push(finding);
}

fn refused_in(refused: &Refused, key: &str, source: &ToolSource<'_>) -> Diagnostic {
    let Refused { rule, pointer, what, count } = refused;
    let more = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    let what = if what.is_empty() { thing(rule).to_owned() } else { what.join(", ") };
    let subject = format!("`{key}{}`{more}: {what}", shown(pointer));
    source.mark(said(rule, source.file, &subject), key, pointer)
}

/// The subject of a rule, in a few words.
fn thing(rule: &Rule) -> &'static str {
    rule.what.split(',').next().unwrap_or_default()
}

fn check_server(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let file = catalog.paths.server.join("server.meta.json");
    let Ok(text) = mcp_bash_files::read_text(&file, LONGEST) else { return };
    let Ok(written) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else { return };
    let place = |names: &[&str]| {
        let value = follow(text.trim_start_matches('\u{feff}'), names.iter().copied())?;
        place_of(value.text(), &text)
    };
    // A name that comes from the folder is not the author's choice, and clients may name the server as they like.
    if let Some(name) = written["name"].as_str()
        && let Some(rule) = server_refusal(name)
    {
        let subject = format!("calls the server `{}`", shown(name));
        found.push(said(rule, &file, &subject).at(place(&["name"])));
    }
    let is_usable = |icon: &Value| icon["src"].is_string();
    let icons = match &written["icons"] {
        Value::Null => return,
        Value::Array(icons) => icons,
        _ => {
            let subject = "`icons` is no list".to_owned();
            found.push(said(&rules::SERVER_ICONS, &file, &subject).at(place(&["icons"])));
            return;
        }
    };
    if let Some(index) = icons.iter().position(|icon| !is_usable(icon)) {
        let subject = format!("`icons[{index}]` is no object with a `src`");
        found.push(said(&rules::SERVER_ICONS, &file, &subject).at(place(&["icons", &index.to_string()])));
    }
}

fn check_resources(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let resources = catalog.resources.items().iter();
    let resources = resources.map(|resource| (&resource.about, &*resource.path, Some(&*resource.uri)));
    let templates = catalog.templates.items().iter().map(|template| (&template.about, &*template.path, None));
    for (about, path, uri) in resources.chain(templates) {
        let file = match path {
            "" => catalog.paths.server.join("register.json"),
            path => {
                let file = catalog.paths.resources.join(path);
                metadata_beside(&file).unwrap_or(file)
            }
        };
        if let Some(uri) = uri.filter(|uri| !is_uri(uri)) {
            let subject = format!("names the URI `{}`", shown(uri));
            found.push(at_key(said(&rules::URI_CHARACTERS, &file, &subject), "uri"));
        }
        if let Some(kind) = about.mime_type.as_deref().filter(|kind| !is_media_type(kind)) {
            let subject = format!("says that its type is `{}`", shown(kind));
            found.push(at_key(said(&rules::MEDIA_TYPE, &file, &subject), "mimeType"));
        }
    }
}

/// The finding with the line of a key, if its file is metadata.
fn at_key(found: Diagnostic, key: &str) -> Diagnostic {
    let Ok(text) = mcp_bash_files::read_text(&found.path, LONGEST) else { return found };
    if found.path.extension().is_some_and(|ending| ending == "json") {
        let value = follow(text.trim_start_matches('\u{feff}'), [key]);
        let place = value.and_then(|value| place_of(value.text(), &text));
        return found.at(place);
    }
    match yaml_line(&text, key) {
        Some(line) => found.at_line(line as u64),
        None => found,
    }
}

/// Whether a text has only URI characters.
fn is_uri(uri: &str) -> bool {
    let is_reserved = |byte: u8| b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    uri.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_reserved(byte))
}

fn is_media_type(kind: &str) -> bool {
    let is_word = |word: &str| {
        let is_sign = |byte: u8| b"!#$&-^_.+".contains(&byte);
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte))
    };
    let plain = kind.split(';').next().unwrap_or_default().trim();
    plain.split_once('/').is_some_and(|(kind, subtype)| is_word(kind) && is_word(subtype))
}

/// A finding about something that breaks a rule.
fn said(rule: &Rule, file: &Path, subject: &str) -> Diagnostic {
    let told = Diagnostic::warning(file, format!("{subject}: {}", rule.who), rule.remedy);
    Diagnostic { severity: Severity::clone(&rule.severity), ..told }
}
