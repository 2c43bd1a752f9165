//! Line diff of two texts, with some lines around each change.

use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// How many lines are shown before and after a change.
const AROUND: usize = 3;

/// The timeout of the search for the shortest difference; after that a longer one is taken.
const PATIENCE: Duration = Duration::from_millis(500);

/// Longer texts are compared up to this length, in bytes.
const LONGEST: usize = 1024 * 1024;

/// How many lines of a difference are shown.
const MOST_LINES: usize = 60;

/// Longer lines are cut, in characters.
const LONGEST_LINE: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Place,
    Same,
    Expected,
    Got,
    Note,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffLine {
    pub(crate) sign: Sign,
    pub(crate) text: String,
}

/// The expected lines (`-`) and the actual ones (`+`).
pub(crate) fn diff(expected: &str, got: &str) -> Vec<DiffLine> {
    let (expected, got) = (beginning(expected), beginning(got));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(expected, got);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(AROUND) {
        if let (Some(first), Some(last)) = (group.first(), group.last()) {
            let (old, new) = (
                first.old_range().start..last.old_range().end,
                first.new_range().start..last.new_range().end,
            );
            let range = |range: std::ops::Range<usize>| format!("{},{}", range.start + 1, range.len());
            let text = format!("@@ -{} +{} @@", range(old), range(new));
            lines.push(DiffLine { sign: Sign::Place, text });
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let (sign, mark) = match change.tag() {
                ChangeTag::Equal => (Sign::Same, ' '),
                ChangeTag::Delete => (Sign::Expected, '-'),
                ChangeTag::Insert => (Sign::Got, '+'),
            };
            lines.push(DiffLine {
                sign,
                text: format!("{mark}{}", cut(change.value().trim_end_matches('\n'))),
            });
        }
    }
    if lines.len() > MOST_LINES {
        let left = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(DiffLine { sign: Sign::Note, text: format!("… and {left} more lines") });
    }
    lines
}

fn beginning(text: &str) -> &str {
    let end = (0..=LONGEST.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// A line, cut to the longest that is shown.
pub(crate) fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}… ({} characters)", &line[..end], line.chars().count()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expected: &str, got: &str) -> Vec<String> {
        diff(expected, got).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn changes_stand_between_the_lines_around_them() {
        assert_eq!(
            shown("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n"),
            ["@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]
        );
        assert_eq!(shown("a", "b"), ["@@ -1,1 +1,1 @@", "-a", "+b"]);
        assert!(shown("same\n", "same\n").is_empty());
    }

    #[test]
    fn large_texts_take_a_moment_and_a_screen() {
        let lines = |factor: usize| -> String {
            let numbers: Vec<String> = (0..200_000).map(|n| (n * factor % 200_000).to_string()).collect();
            numbers.join("\n")
        };
        let (one, other) = (lines(1), lines(7));
        assert_eq!(shown(&one, &other).len(), MOST_LINES + 1);
        let long = "é".repeat(3_000_000);
        assert!(shown(&long, "x").iter().all(|line| line.len() < 5 * LONGEST_LINE));
    }
}
