//! Skipped files: the tools that a skipped file may have, namely those it had when it was last served and those its text
//! names. They explain to a client why a tool is missing, and no file is blamed for a tool that it never had.

use crate::walk::collection::Collection;
use crate::{Diagnostic, Paths, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much of a skipped file is searched for names, in bytes.
const SEARCHED: u64 = 256 * 1024;

/// How many skipped files are searched. A project with more has bigger problems.
const MOST: usize = 200;

/// The names of tools that skipped files may have.
#[derive(Debug, Default)]
pub(crate) struct Skipped(BTreeMap<PathBuf, BTreeSet<String>>);

impl Skipped {
    /// Searches the files that `diagnostics` report as skipped. `before` holds the tools that were served before, and the
    /// files skipped then.
    pub(crate) fn of(
        diagnostics: &[Diagnostic],
        before: Option<(&Collection<Tool>, &Self)>,
        paths: &Paths,
    ) -> Self {
        let files: BTreeSet<&PathBuf> = skips(diagnostics, &paths.tools).map(|told| &told.path).collect();
        let names = |file: &PathBuf| {
            let mut names = names_in(file);
            if let Some((tools, skipped)) = before {
                let had = tools.items().iter().filter(|tool| belong_together(&tool.script, file));
                names.extend(had.map(|tool| tool.name.clone()));
                names.extend(skipped.0.get(file).into_iter().flatten().cloned());
            }
            (file.clone(), names)
        };
        Self(files.into_iter().take(MOST).map(names).collect())
    }

    /// The problem of the file that could hold a tool.
    pub(crate) fn suspect<'a>(
        &self,
        diagnostics: &'a [Diagnostic],
        tool: &str,
        tools: &Path,
    ) -> Option<&'a Diagnostic> {
        let may_have = |file: &PathBuf| self.0.get(file).is_some_and(|names| names.contains(tool));
        skips(diagnostics, tools)
            .find(|told| is_called(&told.path, tool, tools))
            .or_else(|| skips(diagnostics, tools).find(|told| may_have(&told.path)))
    }
}

/// Those that report a skipped file of a folder.
fn skips<'a>(diagnostics: &'a [Diagnostic], tools: &Path) -> impl Iterator<Item = &'a Diagnostic> {
    diagnostics
        .iter()
        .filter(move |told| told.problem.starts_with("is skipped") && told.path.starts_with(tools))
}

/// Whether a file, or its folder, has the name of a tool.
fn is_called(file: &Path, name: &str, tools: &Path) -> bool {
    let folder = file.parent().filter(|folder| *folder != tools).and_then(Path::file_name);
    stem(file) == name.as_bytes() || folder.is_some_and(|folder| folder == name)
}

/// Whether two files are the same, or a script and its metadata.
fn belong_together(one: &Path, other: &Path) -> bool {
    one == other || one.parent() == other.parent() && stem(one) == stem(other)
}

/// The name of a file up to its first dot.
fn stem(file: &Path) -> &[u8] {
    let name = file.file_name().map_or(&[][..], OsStr::as_bytes);
    name.split(|byte| *byte == b'.').next().unwrap_or_default()
}

/// The tool names in the text of a file: words in quotes, and definitions.
fn names_in(file: &Path) -> BTreeSet<String> {
    let mut bytes = Vec::new();
    let read = mcp_bash_files::open(file).and_then(|file| file.take(SEARCHED).read_to_end(&mut bytes));
    if read.is_err() {
        return BTreeSet::new();
    }
    named(&String::from_utf8_lossy(&bytes))
}

fn named(text: &str) -> BTreeSet<String> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    let (mut names, mut word_before) = (BTreeSet::new(), "");
    let mut rest = text;
    while let Some(start) = rest.find(is_of_name) {
        let letter_before = rest[..start].chars().next_back();
        let word = &rest[start..];
        let end = word.find(|letter| !is_of_name(letter)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let next = after.chars().next();
        let is_quoted = next == letter_before && matches!(next, Some('"' | '\'' | '`'));
        let is_defined = matches!(word_before, "def" | "const" | "let" | "var" | "function");
        // A member of an exported object.
        let is_key = next == Some(':');
        if is_quoted || is_defined || is_key {
            names.insert(word.to_owned());
        }
        (word_before, rest) = (word, after);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_defined_or_in_quotes_is_named_and_other_words_are_not() {
        let python = "from mcp_bash import tool\n@tool(name=\"re-named\")\ndef add(:\n    return other\n";
        let node =
            "export const twice = tool('Doubles', {})\nexport default { thrice: tool('x') }\nnothing()";
        let provider = "list) echo '{\"name\":\"look\"}' ;;";
        for (text, has, has_not) in [
            (python, &["add", "re-named"][..], &["other", "tool", "return", "from"][..]),
            (node, &["twice", "thrice"], &["nothing", "default", "export"]),
            (provider, &["look"], &["list", "echo"]),
            ("", &[], &["", "x"]),
            ("\"un", &[], &["un"]),
        ] {
            let names = named(text);
            assert!(has.iter().all(|name| names.contains(*name)), "{names:?} of {text}");
            assert!(!has_not.iter().any(|name| names.contains(*name)), "{names:?} of {text}");
        }
    }

    #[test]
    fn a_script_and_its_metadata_belong_together() {
        let is_one = |one: &str, other: &str| belong_together(Path::new(one), Path::new(other));
        assert!(is_one("/t/a/tool.sh", "/t/a/tool.meta.json") && is_one("/t/a.py", "/t/a.py"));
        assert!(!is_one("/t/a.py", "/t/b.py") && !is_one("/t/a/tool.sh", "/t/b/tool.meta.json"));
    }
}
