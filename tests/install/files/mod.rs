//! `mcp-bash install` in the files of each client, as users have them: with comments, other servers, tabs and
//! CRLF line ends. Everything but the entry stays byte for byte, and `uninstall` restores the file.

mod assistants;
mod case;
mod editors;

use crate::harness::Home;
use case::Case;
use mcp_bash_entries::{CLIENTS, Scope};

fn cases() -> impl Iterator<Item = &'static Case> {
    assistants::CASES.iter().chain(editors::CASES)
}

fn with_words<'w>(words: &[&'w str], more: &[&'w str]) -> Vec<&'w str> {
    words.iter().chain(more).copied().collect()
}

#[test]
fn every_file_of_every_client_has_a_case() {
    let words = |scope: Scope| if scope == Scope::User { Vec::new() } else { vec!["--scope", scope.name()] };
    for client in CLIENTS {
        for file in client.files {
            let is_of_windows = (client.name, file.scope) == ("visual-studio", Scope::User);
            let is_here = cases().any(|case| case.client == client.name && case.scope == words(file.scope));
            assert!(is_here || is_of_windows, "{} {:?}", client.name, file.scope);
        }
    }
}

#[test]
fn install_adds_the_entry_to_each_file_and_uninstall_removes_it() {
    for Case { client, scope, path, before, change: (piece, changed) } in cases() {
        let home = Home::new();
        home.write(path, before);
        let expected = before.replacen(piece, changed, 1);
        assert_ne!(&expected, before, "{client}: {piece:?} is part of the text");

        let said = home.run(&with_words(&["install", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client} {path}");
        assert_eq!(home.read(path).unwrap(), expected, "{client} {path}");
        let backup = format!("{path}.bak");
        assert_eq!(home.read(&backup).as_deref(), Some(*before), "{client} {path}");

        // Again, without a change.
        let said = home.run(&with_words(&["install", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        assert!(said.out.contains("is already installed in HOME/"), "{}", said.out);
        assert_eq!(home.read(path).unwrap(), expected, "{client}");
        assert_eq!(home.read(&format!("{backup}2")), None, "{client}");

        let said = home.run(&with_words(&["uninstall", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        assert_eq!(home.read(path).as_deref(), Some(*before), "{client} {path}");
    }
}

#[test]
fn uninstall_removes_only_the_entry_from_a_rewritten_file() {
    for Case { client, scope, path, before, .. } in cases() {
        let home = Home::new();
        home.write(path, before);
        home.run(&with_words(&["install", client], scope));
        std::fs::remove_file(home.path(&format!("{path}.bak"))).unwrap();
        let said = home.run(&with_words(&["uninstall", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        // Only files without other content are removed.
        let Some(after) = home.read(path) else {
            assert!(before.trim().len() < 30, "{client}: {before}");
            continue;
        };
        assert!(!after.contains("--project-root"), "{client}: {after}");
        // All earlier content is still there, in order; at most the keys around the servers are new.
        let mut rest = &*after;
        for part in before.split_whitespace() {
            let part = part.trim_end_matches(',').trim_matches(['{', '}']);
            let at = rest.find(part).unwrap_or_else(|| panic!("{client}: {part} in {after}"));
            rest = &rest[at + part.len()..];
        }
    }
}

#[test]
fn a_missing_file_is_created_and_removed_again() {
    let home = Home::new();
    let places: Vec<(&str, &[&str])> = cases().map(|case| (case.client, case.scope)).collect();
    for (client, scope) in places {
        let before = home.files("");
        let said = home.run(&with_words(&["install", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        let made: Vec<String> = home.files("").into_iter().filter(|file| !before.contains(file)).collect();
        assert_eq!(made.len(), 1, "{client} {scope:?}: {made:?}");
        let said = home.run(&with_words(&["uninstall", client], scope));
        assert_eq!((said.code, &*said.err), (0, ""), "{client}");
        assert_eq!(home.files(""), before, "{client} {scope:?}");
    }
}
