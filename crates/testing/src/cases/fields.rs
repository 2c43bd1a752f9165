//! Fields of a case file that only cases have: patterns, paths and variables.

use crate::cases::case::Pattern;
pub(crate) use mcp_bash_yaml::{Fields, items, kind, members, number, text, texts, truth, whole_number};
use mcp_bash_yaml::{Key, Node, Tree, Wrong};
use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// A regular expression, or a list of them.
pub(crate) fn patterns(node: &Node, name: &str) -> Result<Vec<Pattern>, Wrong> {
    match &node.value {
        Tree::List(items) => items.iter().map(|item| pattern(item, name)).collect(),
        _ => Ok(vec![pattern(node, name)?]),
    }
}

pub(crate) fn pattern(node: &Node, name: &str) -> Result<Pattern, Wrong> {
    let written = text(node, name)?;
    // In results these stand for folders, and a `$` in a pattern is the end of the text.
    let literal = written.replace("${dir}", r"\$\{dir\}").replace("${project}", r"\$\{project\}");
    match Regex::new(&literal) {
        Ok(regex) => Ok(Pattern { written, regex }),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Err(node.wrong(format!("`{name}` is no regular expression: {reason}")))
        }
    }
}

/// A path that stays below the folder of the case.
pub(crate) fn inner_path(key: &Key) -> Result<String, Wrong> {
    let is_inside = !key.name.is_empty()
        && !key.name.contains('\0')
        && Path::new(&key.name)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_inside {
        return Ok(key.name.clone());
    }
    let problem = format!("`{}` leads out of the folder of the case; paths are relative to it", key.name);
    Err(key.wrong(problem))
}

/// Variables of an environment.
pub(crate) fn environment(node: &Node, name: &str) -> Result<BTreeMap<String, String>, Wrong> {
    let variables = members(node, name)?.iter().map(|(key, value)| {
        let name = &key.name;
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        let value = text(value, name)?;
        if is_name && !value.contains('\0') {
            return Ok((name.clone(), value));
        }
        Err(key.wrong(format!("`{name}` cannot be a variable of the environment")))
    });
    variables.collect()
}
