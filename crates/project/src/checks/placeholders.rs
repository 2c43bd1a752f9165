//! Placeholders of prompts that no argument fills.

use super::beginning;
use crate::kinds::prompts::Source;
use crate::{Catalog, Diagnostic};
use mcp_bash_spelling::nearest;

/// How much of a template is read, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// Checks the templates of all prompts that declare arguments.
pub(super) fn check(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    for prompt in catalog.prompts.items() {
        if !matches!(prompt.source, Source::Template) || prompt.arguments.is_empty() {
            continue;
        }
        let text = beginning(&prompt.file, LONGEST);
        let known = || prompt.arguments.iter().map(|argument| argument.name.as_str());
        for (line, name) in placeholders(&text) {
            // Only a misspelled one: others may be meant as text.
            if known().any(|known| known == name) {
                continue;
            }
            if let Some(meant) = nearest(name, known()) {
                let problem = format!(
                    "has the placeholder `{{{{{name}}}}}`, which no argument of `{}` fills",
                    prompt.name
                );
                let remedy = format!("write `{{{{{meant}}}}}`, or add the argument `{name}`");
                found.push(Diagnostic::warning(&prompt.file, problem, &remedy).at_line(line));
            }
        }
    }
}

/// The names between double braces, each with its line.
fn placeholders(text: &str) -> Vec<(u64, &str)> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        for part in line.split("{{").skip(1) {
            let name = part.split("}}").next().filter(|name| name.len() < part.len()).map(str::trim);
            let is_name = |name: &&str| {
                !name.is_empty()
                    && name.chars().all(|character| character.is_alphanumeric() || "_-".contains(character))
            };
            found.extend(name.filter(is_name).map(|name| (number, name)));
        }
    }
    found
}
