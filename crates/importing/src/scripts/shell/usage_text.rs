//! Usage text of a shell script: what it prints as its help, from here-documents, `echo` and `printf`.

use super::expansion::length;
use super::flow::{any_node, each_command, own_words};
use super::tree::{Command, Item, Node};

/// The text that a function for help prints, or else a text that speaks of usage.
pub(super) fn find(items: &[Item]) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    any_node(items, &mut |node| {
        if let Node::Function { name, body } = node {
            let name = name.to_ascii_lowercase();
            if name.contains("usage") || name.contains("help") {
                texts.push(printed(body));
            }
        }
        false
    });
    texts.push(printed_at_once(items));
    texts.into_iter().filter(|text| text.to_ascii_lowercase().contains("usage")).max_by_key(String::len)
}

/// The same for a script that cannot be parsed: lines from `Usage:` to an empty one.
pub(super) fn by_lines(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.to_ascii_lowercase().contains("usage:"))?;
    let block =
        lines[start..].iter().take(60).take_while(|line| !matches!(line.trim(), "EOF" | "END" | "\""));
    Some(plain(
        &block.map(|line| line.trim_start_matches("echo ").trim_matches('"')).collect::<Vec<_>>().join("\n"),
    ))
}

fn printed(items: &[Item]) -> String {
    let mut text = String::new();
    each_command(items, &mut |command| {
        if let Some(printed) = printed_by(command) {
            text.push_str(&printed);
            text.push('\n');
        }
    });
    text
}

/// Texts of single commands that speak of usage.
fn printed_at_once(items: &[Item]) -> String {
    let mut text = String::new();
    each_command(items, &mut |command| {
        let printed = printed_by(command).unwrap_or_default();
        if printed.to_ascii_lowercase().contains("usage:") && printed.len() > text.len() {
            text = printed;
        }
    });
    // `usage="Usage: …"`
    each_command(items, &mut |command| {
        for (name, _, value) in super::flow::assignments(command) {
            let name = name.to_ascii_lowercase();
            if (name.contains("usage") || name.contains("help")) && value.len() > text.len() {
                text = plain(value);
            }
        }
    });
    text
}

fn printed_by(command: &Command) -> Option<String> {
    if let Some(body) = &command.here_document {
        return Some(plain(body));
    }
    let words = own_words(command);
    let prints = words.first().is_some_and(|word| {
        matches!(&**word, "echo" | "printf" | "print" | "usage" | "die" | "cat")
            || word.contains("echo")
            || word.contains("gettext")
    });
    let texts: Vec<String> =
        words.iter().skip(1).filter(|word| !word.starts_with('-')).map(|word| plain(word)).collect();
    (prints && !texts.is_empty()).then(|| texts.join(" "))
}

/// The text without quotes; the name of the script is `PROGRAM`.
fn plain(word: &str) -> String {
    let word = word.trim_matches(['"', '\'']);
    let mut text = String::new();
    let mut at = 0;
    while let Some(letter) = word[at..].chars().next() {
        let rest = &word[at..];
        match letter {
            '\\' => {
                let next = rest[1..].chars().next();
                match next {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push_str("        "),
                    Some('\n') | None => {}
                    Some(other) => text.push(other),
                }
                at += 1 + next.map_or(0, char::len_utf8);
            }
            '`' => {
                let inner = rest[1..].split('`').next().unwrap_or_default();
                text.push_str(if inner.contains('0') { "PROGRAM" } else { inner });
                at += (inner.len() + 2).min(rest.len());
            }
            '$' => {
                let length = length(rest);
                let inner = &rest[..length];
                let lower = inner.to_ascii_lowercase();
                let is_program = inner.contains('0')
                    || lower.contains("prog")
                    || lower.contains("self")
                    || lower.contains("name");
                if is_program {
                    text.push_str("PROGRAM");
                } else {
                    text.push_str(inner.trim_start_matches(['$', '{', '(']).trim_end_matches(['}', ')']));
                }
                at += length;
            }
            _ => {
                text.push(letter);
                at += letter.len_utf8();
            }
        }
    }
    text
}
