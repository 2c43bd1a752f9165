//! `sys.argv` without a parser.

use crate::argument::ArgumentKind;
use crate::scripts::calls::{Token, uses_of};
use crate::scripts::reading::{ScriptPositional, ScriptReading};
use std::collections::BTreeMap;

pub(super) fn read(tokens: &[Token], text: &str, reading: &mut ScriptReading) {
    let mut words: BTreeMap<usize, Option<String>> = BTreeMap::new();
    let mut has_rest = false;
    let mut least = 0;
    let uses = uses_of(tokens, "argv");
    for (index, line) in &uses {
        match (tokens.get(index + 1), tokens.get(index + 2), tokens.get(index + 3)) {
            (Some(Token::Sign('[')), Some(Token::Number(number)), Some(Token::Sign(']'))) => {
                if let Ok(position @ 1..10) = number.parse::<usize>() {
                    let name = assigned(line);
                    let known = words.entry(position).or_default();
                    *known = known.take().or(name);
                }
            }
            (Some(Token::Sign('[')), Some(Token::Number(_)), Some(Token::Sign(':'))) => has_rest = true,
            // `len(sys.argv) < 3`
            (Some(Token::Sign(')')), Some(Token::Sign(sign)), next) => {
                let number = match (next, tokens.get(index + 4)) {
                    (Some(Token::Number(number)), _)
                    | (Some(Token::Sign('=')), Some(Token::Number(number))) => number.parse::<usize>().ok(),
                    _ => None,
                };
                let or_equal = matches!(next, Some(Token::Sign('=')));
                match (sign, number) {
                    ('<', Some(number)) => least = least.max(number - usize::from(!or_equal && number > 0)),
                    ('!', Some(number)) => least = least.max(number.saturating_sub(1)),
                    _ => {}
                }
            }
            _ => has_rest |= !matches!(tokens.get(index + 1), Some(Token::Sign('[' | ')'))),
        }
    }
    if uses.is_empty() {
        let is_imported = text
            .lines()
            .any(|line| line.starts_with("from ") && line.contains(" import ") && line.contains("main"));
        let hands_over =
            ["main(", ".cli(", ".run(", ".main(", ".app("].iter().any(|call| text.contains(call))
                && !text.contains("def main");
        if is_imported || hands_over || text.contains("load_entry_point") || text.contains("runpy") {
            reading.is_opaque = Some("another module reads its words".to_owned());
        }
        return;
    }
    let highest = words.keys().next_back().copied().unwrap_or(0).max(least.min(9));
    for position in 1..=highest {
        let name = words.remove(&position).flatten().unwrap_or_else(|| format!("arg{position}"));
        let is_required = position <= least || least == 0 && !has_rest;
        reading.positionals.push(ScriptPositional::new(name, ArgumentKind::Text, is_required));
    }
    if has_rest {
        reading.positionals.push(ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false));
        reading.doubt("it reads `sys.argv` by itself: which options it knows is not clear");
    } else if least == 0 {
        reading.doubt("which of its words it requires is not clear");
    }
}

/// The name in `name = sys.argv[1]`.
fn assigned(line: &[Token]) -> Option<String> {
    match line {
        [Token::Name(name), Token::Sign('='), ..] => Some(name.clone()),
        _ => None,
    }
}
