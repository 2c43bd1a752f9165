//! Tool names that become the same name in clients.

use crate::declarations::refusals::names::shown;
use std::collections::HashMap;

/// The longest name, in characters, that a client makes of the names of server and tool.
const LONGEST: usize = 64;

/// The names that become the same as an earlier one: the index of each, and the two names for the message.
pub(super) fn clashes<'n>(names: impl Iterator<Item = &'n str>, server: &str) -> Vec<(usize, String)> {
    // A separator comes between the two names.
    let room = LONGEST.saturating_sub(server.chars().count() + 1).max(1);
    let mut seen: HashMap<String, &str> = HashMap::new();
    let mut found = Vec::new();
    for (index, name) in names.enumerate() {
        let becomes: String = name.chars().take(room).map(|c| if is_kept(c) { c } else { '_' }).collect();
        match seen.get(&becomes) {
            Some(first) => {
                found.push((index, format!("the tools `{}` and `{}`", shown(first), shown(name))));
            }
            None => drop(seen.insert(becomes, name)),
        }
    }
    found
}

fn is_kept(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_what_clients_replace_or_cut_are_found() {
        let found = |names: &[&str]| {
            clashes(names.iter().copied(), "s").into_iter().map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert!(found(&["files_read", "files-read", "Files_read", "read"]).is_empty());
        assert_eq!(found(&["files.read", "x", "files_read", "files/read"]), [2, 3]);
        let long = "a".repeat(62);
        assert_eq!(found(&[&format!("{long}1"), &format!("{long}2")]), [1]);
        assert!(found(&[&format!("{}1", &long[..61]), &format!("{}2", &long[..61])]).is_empty());
    }
}
