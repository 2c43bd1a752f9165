//! The paths in Rust code that begin with `crate`, `self` or `super`, and the folders of the crate that they lead to.

use super::code::code_only;
use std::collections::BTreeMap;

/// A path from the root of its crate, and the line that it is on.
pub(super) struct NamedPath {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// A word or a sign, and its line.
type Token<'a> = (&'a str, usize);

/// All paths in a file, which is this module.
pub(super) fn paths_in(text: &str, module: &[String]) -> Vec<NamedPath> {
    let code = code_only(text);
    let tokens = tokens(&code);
    let mut found = Vec::new();
    // The modules within the file that are open here, each with the depth of its block.
    let (mut module, mut inner, mut depth) = (module.to_vec(), Vec::new(), 0_usize);
    let mut at = 0;
    while at < tokens.len() {
        let (word, _) = tokens[at];
        let is_start = at == 0 || tokens[at - 1].0 != "::";
        match word {
            "mod" if tokens.get(at + 2).is_some_and(|(sign, _)| *sign == "{") => {
                module.push(tokens[at + 1].0.to_owned());
                depth += 1;
                inner.push(depth);
                at += 3;
            }
            "crate" | "self" | "super" if is_start => at = read_tree(&tokens, at, &[], &module, &mut found),
            "{" => {
                depth += 1;
                at += 1;
            }
            "}" => {
                if inner.last() == Some(&depth) {
                    inner.pop();
                    module.pop();
                }
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

/// Reads a path, or the tree of a `use`, and returns where it ends.
fn read_tree(
    tokens: &[Token<'_>],
    from: usize,
    before: &[String],
    module: &[String],
    found: &mut Vec<NamedPath>,
) -> usize {
    let (mut path, mut at) = (before.to_vec(), from);
    let mut line = tokens[from].1;
    loop {
        match tokens.get(at) {
            Some(("{", _)) => {
                at += 1;
                while tokens.get(at).is_some_and(|(sign, _)| *sign != "}") {
                    at = if tokens[at].0 == "," {
                        at + 1
                    } else {
                        read_tree(tokens, at, &path, module, found)
                    };
                }
                return at + 1;
            }
            Some((word, on)) if is_word(word) || *word == "*" => {
                path.push((*word).to_owned());
                line = *on;
                at += 1;
            }
            _ => break,
        }
        match tokens.get(at) {
            Some(("::", _)) => at += 1,
            _ => break,
        }
    }
    found.push(NamedPath { path: from_root(&path, module), line });
    if tokens.get(at).is_some_and(|(word, _)| *word == "as") { at + 2 } else { at.max(from + 1) }
}

/// The same path from the root of the crate.
fn from_root(path: &[String], module: &[String]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for (index, part) in path.iter().enumerate() {
        match part.as_str() {
            "crate" => whole.clear(),
            "self" if index == 0 => whole = module.to_vec(),
            // The last of a tree: the module itself.
            "self" => {}
            "super" => {
                if index == 0 {
                    whole = module.to_vec();
                }
                whole.pop();
            }
            part => whole.push(part.to_owned()),
        }
    }
    whole
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (number, text) in code.lines().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_part = |character: char| character.is_alphanumeric() || character == '_';
            let length = if is_part(first) {
                rest.find(|character| !is_part(character)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push((&rest[..length], number + 1));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// The folders of a crate, and the names that its root takes from them.
pub(super) struct Exports<'a> {
    order: &'a [&'a str],
    by_name: BTreeMap<String, String>,
}

impl<'a> Exports<'a> {
    /// `root` is the text of `lib.rs`.
    pub(super) fn of(root: &str, order: &'a [&'a str]) -> Self {
        let code = code_only(root);
        let mut by_name = BTreeMap::new();
        for statement in code.split(';').filter_map(|statement| statement.split_once("use ")) {
            let tree = statement.1;
            assert!(!tree.contains('*'), "lib.rs takes all of a folder, which cannot be followed: {tree}");
            let words: Vec<&str> = tree.split(|sign: char| !sign.is_alphanumeric() && sign != '_').collect();
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let folder = words.iter().find(|word| !["crate", "self"].contains(*word));
            let Some(folder) = folder.filter(|folder| order.contains(*folder)) else { continue };
            // Names of modules on the way are no names of the root, and do no harm here.
            for name in words.iter().filter(|word| !order.contains(*word)) {
                by_name.insert((*name).to_owned(), (*folder).to_owned());
            }
        }
        Self { order, by_name }
    }

    /// The folder that a path from the root leads to.
    pub(super) fn folder_of(&self, path: &[String]) -> Option<&str> {
        let first = path.first()?;
        let folder = self.order.iter().find(|folder| *folder == first).copied();
        folder.or_else(|| self.by_name.get(first).map(String::as_str))
    }
}
