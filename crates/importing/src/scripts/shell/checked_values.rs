//! Checked values: what a script does itself so that a value can only be a number or a plain word.

use super::expansion::{expansions, plain};
use super::flow::{Flow, chained, own_words};
use super::tree::{Item, Joint, Node};

/// The names of the values that the item at an index checks.
pub(super) fn of<'t>(flow: &Flow<'_>, items: &'t [Item], index: usize) -> Vec<&'t str> {
    match &items[index].node {
        Node::Command(command) => {
            let words = own_words(command);
            let text_sources = || {
                let texts = command.redirections.iter().filter(|(operator, _)| operator == "<<<");
                texts.flat_map(|(_, text)| names(text)).collect()
            };
            match words {
                [first, ..] if first.starts_with("[[") => by_pattern(first),
                [first, left, operator, right, ..] if first == "[" || first == "test" => {
                    let is_number = matches!(&**operator, "-eq" | "-ge" | "-gt" | "-le" | "-lt");
                    // A text that is no number makes the test fail.
                    let is_check = left == right || flow.ends(chained(items, index, Joint::Or));
                    if is_number && is_check { names(left) } else { Vec::new() }
                }
                [first, left, operator, ..] if first == "expr" && operator == ":" => names(left),
                _ if is_filter(&items[index]) => text_sources(),
                _ => Vec::new(),
            }
        }
        Node::Case { subject, arms, .. } => {
            let patterns = || arms.iter().flat_map(|arm| &arm.patterns);
            let is_class = |rest: &str| {
                rest.starts_with("[:") || rest.starts_with(|first: char| first.is_ascii_alphanumeric())
            };
            let refuses = |pattern: &String| {
                ["[!", "[^"].iter().any(|not| pattern.split_once(not).is_some_and(|(_, rest)| is_class(rest)))
            };
            let refuses_letters = patterns().any(refuses);
            let refuses_rest = arms
                .iter()
                .any(|arm| arm.patterns.iter().any(|pattern| pattern == "*") && flow.ends(&arm.body))
                && patterns().all(|pattern| pattern == "*" || is_word_pattern(pattern));
            if refuses_letters || refuses_rest { names(subject) } else { Vec::new() }
        }
        // `if ! [[ … ]]` is a block.
        Node::Block(inner) => (0..inner.len()).flat_map(|index| of(flow, inner, index)).collect(),
        Node::If { branches, .. } => branches
            .iter()
            .flat_map(|(head, _)| (0..head.len()).flat_map(|index| of(flow, head, index)))
            .collect(),
        _ => Vec::new(),
    }
}

/// `[[ $n =~ ^[0-9]+$ ]]`
fn by_pattern(test: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = test;
    while let Some((left, right)) = rest.split_once(" =~ ") {
        let pattern = right.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
        // A pattern in a variable is taken for the right one.
        let is_strict = pattern.starts_with('$')
            || pattern.starts_with('^') && pattern.ends_with('$') && !pattern.contains(".*");
        if is_strict {
            found.extend(left.split_whitespace().next_back().into_iter().flat_map(names));
        }
        rest = right;
    }
    found
}

fn names(word: &str) -> Vec<&str> {
    expansions(word).into_iter().filter(|found| !found.is_inner).map(|found| found.name).collect()
}

/// Digits, letters and classes of them.
fn is_word_pattern(pattern: &str) -> bool {
    plain(pattern).is_some_and(|text| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.[]:+@()|?".contains(letter))
    })
}

/// `grep -q '^[0-9]*$'`
pub(super) fn is_filter(item: &Item) -> bool {
    let Node::Command(command) = &item.node else { return false };
    let words = own_words(command);
    let is_grep = words.first().is_some_and(|word| matches!(&**word, "grep" | "egrep"));
    let strict = |word: &String| plain(word).is_some_and(|text| text.starts_with('^') && text.ends_with('$'));
    is_grep && words.iter().skip(1).any(strict)
}

/// `${n//[!0-9]/}`
pub(super) fn is_cut_to_digits(rest: &str) -> bool {
    ["0-9", "[:digit:]"].iter().any(|digits| {
        ["!", "^"].iter().any(|not| {
            let class = format!("//[{not}{digits}]");
            rest == class || rest.strip_prefix(&*class) == Some("/")
        })
    })
}

/// Whether a command only prints numbers, whatever it is given.
pub(super) fn prints_number(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let plain_rest: Vec<String> = rest.iter().filter_map(|word| plain(word)).collect();
    match &**first {
        "printf" => plain_rest.first().is_some_and(|format| {
            let format = format.trim_end_matches("\\n");
            format.starts_with('%')
                && format[1..].trim_end_matches(['d', 'i', 'u']).bytes().all(|byte| byte.is_ascii_digit())
                && format.ends_with(['d', 'i', 'u'])
        }),
        "tr" => {
            let deletes_rest = matches!(plain_rest.first().map(String::as_str), Some("-cd" | "-dc"));
            let kept = plain_rest.get(1).map(String::as_str);
            deletes_rest && matches!(kept, Some("0-9" | "[0-9]" | "[:digit:]" | "0-9\\n" | "[:digit:]\\n"))
        }
        "jq" => plain_rest.iter().any(|filter| {
            ["length", "tonumber", "floor", "ceil", "round"]
                .iter()
                .any(|end| filter.trim_end().ends_with(end))
        }),
        "expr" => rest
            .iter()
            .any(|word| matches!(word.trim_matches(['\\', '\'', '"']), "+" | "-" | "*" | "/" | "%")),
        _ => false,
    }
}
