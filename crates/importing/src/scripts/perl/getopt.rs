//! `Getopt::Long` and `Getopt::Std`: the options that a table lists.

use super::code::{depths, end_of_call};
use crate::argument::ArgumentKind;
use crate::scripts::reading::{ScriptOption, ScriptReading, UNREAD_OPTIONS, ValueForm};
use std::collections::BTreeSet;

/// As many calls as are read.
const MOST_CALLS: usize = 20;

/// `GetOptions('name|n=s' => \$name, …)`
pub(super) fn long(code: &str, reading: &mut ScriptReading) -> bool {
    let mut found = false;
    let mut seen = BTreeSet::new();
    let (mut at, mut calls) = (0, 0);
    for (index, _) in code.match_indices("GetOptions") {
        if index < at {
            continue;
        }
        calls += 1;
        if calls > MOST_CALLS {
            reading.doubt(UNREAD_OPTIONS);
            break;
        }
        let rest = code[index + 10..].trim_start_matches("FromArray");
        let Some(body) = rest.trim_start().strip_prefix('(') else { continue };
        let body = &body[..end_of_call(body)];
        at = code.len() - rest.len() + body.len();
        found = true;
        let mut count = 0;
        for specification in specifications(body, code) {
            if !seen.insert(specification.clone()) {
                count += 1;
                continue;
            }
            match specified(&specification) {
                Some(option) => {
                    count += 1;
                    if specification.contains(':') {
                        reading.gap(format!("the value of `{}` may be left out", option.names[0]));
                    }
                    reading.add(option);
                }
                None if specification == "<>" => {}
                None => reading.doubt(format!("the option `{specification}` is not clear")),
            }
        }
        if count == 0 {
            reading.doubt("the list of its options is put together while it runs");
        }
    }
    found
}

/// The specifications in a call: keys, the texts of a list, or the keys of a hash that is named.
fn specifications(body: &str, code: &str) -> Vec<String> {
    if body.contains("=>") {
        return keys(body);
    }
    // `GetOptions(%table)` and `GetOptions(\%options, @table)`.
    let last = body.rsplit(',').next().unwrap_or_default().trim();
    if let Some(name) = last.strip_prefix(['%', '@']) {
        let sign = &last[..1];
        let assigned = format!("{sign}{name} = (");
        let start = code.find(&assigned).map(|start| start + assigned.len());
        return start.map_or_else(Vec::new, |start| texts(&code[start..start + end_of_call(&code[start..])]));
    }
    texts(body)
}

/// The keys of a table, or the texts of a list.
fn texts(body: &str) -> Vec<String> {
    if body.contains("=>") {
        return keys(body);
    }
    let mut found = Vec::new();
    for part in body.split("qw").skip(1) {
        let close = match part.chars().next() {
            Some('(') => ')',
            Some('[') => ']',
            Some('{') => '}',
            Some(same) => same,
            None => break,
        };
        let list = part.get(1..).unwrap_or_default().split(close).next().unwrap_or_default();
        found.extend(list.split_whitespace().map(str::to_owned));
    }
    if found.is_empty() {
        found.extend(body.split(['\'', '"']).skip(1).step_by(2).map(str::to_owned));
    }
    found
}

/// The quoted or bare keys before `=>`.
fn keys(body: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let arrows: Vec<usize> = body.match_indices("=>").map(|(index, _)| index).collect();
    for (index, depth) in arrows.iter().zip(depths(body, &arrows)) {
        let before = body[..*index].trim_end();
        let key = if let Some(quote @ ('\'' | '"')) = before.chars().last() {
            let inner = &before[..before.len() - 1];
            inner.rfind(quote).map(|start| inner[start + 1..].to_owned())
        } else {
            let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let start =
                start.map_or(0, |start| start + before[start..].chars().next().map_or(1, char::len_utf8));
            Some(before[start..].to_owned()).filter(|key| !key.is_empty())
        };
        // Inside braces it is a key of a hash.
        keys.extend(key.filter(|_| depth <= 0));
    }
    keys
}

fn specified(specification: &str) -> Option<ScriptOption> {
    let end = specification.find(['=', ':', '!', '+', '{']).unwrap_or(specification.len());
    let (names, kind) = specification.split_at(end);
    let names: Vec<String> = names
        .split('|')
        .filter(|name| !name.is_empty() && *name != "?")
        .map(|name| if name.chars().count() == 1 { format!("-{name}") } else { format!("--{name}") })
        .collect();
    let is_name = |name: &String| {
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
    };
    if names.is_empty() || !names.iter().all(is_name) {
        return None;
    }
    let form =
        if names.iter().any(|name| name.starts_with("--")) { ValueForm::Joined } else { ValueForm::NextWord };
    let value = |kind: ArgumentKind, is_repeated: bool| ScriptOption {
        kind,
        is_repeated,
        ..ScriptOption::with_value(names.clone(), form)
    };
    let is_repeated = kind.ends_with(['@', '%', '}']);
    Some(match kind.trim_start_matches(['=', ':']).chars().next() {
        _ if matches!(kind, "" | "!" | "+") => ScriptOption::flag(names),
        Some('i' | 'n') => value(ArgumentKind::Integer, is_repeated),
        Some('f') => value(ArgumentKind::Number, is_repeated),
        Some('s') => value(ArgumentKind::Text, is_repeated),
        _ => return None,
    })
}

/// `getopts('ab:c', \%opts)`
pub(super) fn short(code: &str, reading: &mut ScriptReading) -> bool {
    let Some(index) = code.find("getopts(").or_else(|| code.find("getopts (")) else { return false };
    let body = &code[index..];
    let Some(start) = body.find(['\'', '"']) else { return false };
    let quote = &body[start..=start];
    let Some(end) = body[start + 1..].find(quote) else { return false };
    let mut letters = body[start + 1..start + 1 + end].chars().peekable();
    while let Some(letter) = letters.next() {
        let names = vec![format!("-{letter}")];
        let takes = letters.next_if_eq(&':').is_some();
        reading.add(if takes {
            ScriptOption::with_value(names, ValueForm::NextWord)
        } else {
            ScriptOption::flag(names)
        });
    }
    true
}
