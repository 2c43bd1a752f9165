//! Difference of two texts for people: the lines that differ, with some lines around them.

mod lines;

use lines::{Hunk, hunks};

/// How many lines are shown before and after a change.
const AROUND: usize = 3;

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
    let expected: Vec<&str> = beginning(expected).split_inclusive('\n').collect();
    let got: Vec<&str> = beginning(got).split_inclusive('\n').collect();
    let mut lines = Vec::new();
    for group in groups(&hunks(&expected, &got)) {
        show(group, &expected, &got, &mut lines);
    }
    if lines.len() > MOST_LINES {
        let left = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(DiffLine { sign: Sign::Note, text: format!("… and {left} more lines") });
    }
    lines
}

/// The hunks that are shown together, because the lines around them touch.
fn groups(hunks: &[Hunk]) -> impl Iterator<Item = &[Hunk]> {
    hunks.chunk_by(|one, next| next.old.start - one.old.end <= 2 * AROUND)
}

/// Shows a group of hunks with the lines around it.
fn show(group: &[Hunk], expected: &[&str], got: &[&str], lines: &mut Vec<DiffLine>) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let before = AROUND.min(first.old.start);
    let after = AROUND.min(expected.len() - last.old.end);
    let range =
        |start: usize, end: usize| format!("{},{}", start - before + 1, end + after - (start - before));
    let (old, new) = (range(first.old.start, last.old.end), range(first.new.start, last.new.end));
    lines.push(DiffLine { sign: Sign::Place, text: format!("@@ -{old} +{new} @@") });
    let mut add = |sign, mark, some: &[&str]| {
        let shown = some.iter().map(|line| format!("{mark}{}", cut(line.trim_end_matches('\n'))));
        lines.extend(shown.map(|text| DiffLine { sign, text }));
    };
    let mut at = first.old.start - before;
    for hunk in group {
        add(Sign::Same, ' ', &expected[at..hunk.old.start]);
        add(Sign::Expected, '-', &expected[hunk.old.clone()]);
        add(Sign::Got, '+', &got[hunk.new.clone()]);
        at = hunk.old.end;
    }
    add(Sign::Same, ' ', &expected[at..at + after]);
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
