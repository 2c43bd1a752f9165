//! Unknown metadata keys, and the known key that was most likely meant.

use super::members::known;
use crate::declarations::identity::Meta;
use crate::declarations::metadata::{self, Metadata};
use crate::ground::json::LONGEST;
use crate::ground::json_place::{members, place_of};
use crate::{Diagnostic, Paths, declarations::server_config};
use mcp_bash_spelling::nearest_or_longer;
use mcp_bash_wire::{Limits, Raw, Scanner};
use std::path::Path;

/// Checks one metadata file of a tool, a prompt or a resource. Discovery has already reported an unreadable file.
pub(super) fn check_file(file: &Path, found: &mut Vec<Diagnostic>) {
    let Ok(text) = mcp_bash_files::read_text(file, LONGEST) else { return };
    if file.extension().is_some_and(|ending| ending == "json") {
        return check_text(&text, file, known::<Metadata>(), found);
    }
    let Ok(serde_json::Value::Object(object)) = metadata::yaml(&text) else { return };
    for key in object.keys() {
        let unknown = unknown(key, file, known::<Metadata>());
        found.extend(unknown.map(|unknown| match metadata::yaml_line(&text, key) {
            Some(line) => unknown.at_line(line as u64),
            None => unknown,
        }));
    }
}

/// Checks the description in a script's own comment.
pub(super) fn check_inline(script: &Path, header: &str, found: &mut Vec<Diagnostic>) {
    let Some((line, json)) = metadata::inline_in(header) else { return };
    let before = found.len();
    check_text(json, script, known::<Metadata>(), found);
    for diagnostic in &mut found[before..] {
        (diagnostic.line, diagnostic.column) = (Some(line as u64 + 1), None);
    }
}

/// Checks the JSON files of `server.d`.
pub(super) fn check_server(paths: &Paths, found: &mut Vec<Diagnostic>) {
    let identity = paths.server.join("server.meta.json");
    if let Ok(text) = mcp_bash_files::read_text(&identity, LONGEST) {
        let known = [known::<Meta>(), known::<server_config::Written>(), &server_config::OF_BUNDLES].concat();
        check_text(&text, &identity, &known, found);
    }
    let registration = paths.server.join("register.json");
    let Ok(text) = mcp_bash_files::read_text(&registration, LONGEST) else { return };
    let Some(whole) = object(&text) else { return };
    // An unknown kind invalidates the whole file, and discovery reports it; this check is about the entries.
    members(whole, |_, entries| {
        if entries.is_array() {
            let visited = Scanner::again(entries).elements(|entry| {
                check_object(entry, &text, &registration, known::<Metadata>(), found);
            });
            debug_assert!(visited.is_ok(), "it was scanned before");
        }
    });
}

fn check_text(text: &str, file: &Path, known: &[&'static str], found: &mut Vec<Diagnostic>) {
    if let Some(whole) = object(text) {
        check_object(whole, text, file, known, found);
    }
}

/// The object in a text, if it is one and not nested too deeply.
fn object(text: &str) -> Option<Raw<'_>> {
    let text = text.trim_start_matches('\u{feff}');
    Scanner::new(text, Limits::default()).whole_value().ok().filter(|whole| whole.is_object())
}

fn check_object(
    object: Raw<'_>,
    text: &str,
    file: &Path,
    known: &[&'static str],
    found: &mut Vec<Diagnostic>,
) {
    if !object.is_object() {
        return;
    }
    members(object, |key, _| {
        if let Some(unknown) = key.string().and_then(|name| unknown(&name, file, known)) {
            found.push(unknown.at(place_of(key.text(), text)));
        }
    });
}

fn unknown(key: &str, file: &Path, known: &[&'static str]) -> Option<Diagnostic> {
    // Notes for people and other programs are not a mistake.
    let is_own = key.starts_with(['_', '$', '#', '/']) || key.starts_with("x-") || key.contains([':', '.']);
    if is_own || known.contains(&key) {
        return None;
    }
    let (problem, remedy) = unknown_words(key, known);
    Some(Diagnostic::warning(file, problem, &remedy))
}

/// The problem and the fix for an unknown key.
pub(crate) fn unknown_words(key: &str, known: &[&'static str]) -> (String, String) {
    const LONGEST_KEY: usize = 60;
    let shown: String =
        key.chars().take(LONGEST_KEY).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    let remedy = match nearest_or_longer(key, known) {
        Some(meant) => format!("write `{meant}` if that is what you mean"),
        None if known.contains(&"_meta") => "remove it, or put it into `_meta`".to_owned(),
        None => "remove it".to_owned(),
    };
    (format!("has the unknown key `{shown}`, which is ignored"), remedy)
}

/// The keys that are read, for the published schemas.
#[cfg(test)]
pub(crate) mod known_keys {
    use super::{Meta, Metadata, known, server_config};

    pub(crate) fn of_metadata() -> Vec<&'static str> {
        known::<Metadata>().to_vec()
    }

    pub(crate) fn of_server() -> Vec<&'static str> {
        [known::<Meta>(), known::<server_config::Written>(), &server_config::OF_BUNDLES].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_yaml_key_is_reported_in_its_own_line() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("tool.meta.yaml");
        std::fs::write(&file, "description: Shows sizes\n\"desc\": no\nname: a\n").unwrap();
        let mut found = Vec::new();
        check_file(&file, &mut found);
        assert_eq!(found.iter().map(|found| found.line).collect::<Vec<_>>(), [Some(2)]);
    }
}
