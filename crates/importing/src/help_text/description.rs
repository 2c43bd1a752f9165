//! Program description: what a help text says about its program, in one paragraph.

use super::LONGEST_DESCRIPTION;
use super::usage::Usage;

/// The first paragraph before the usage, else the first after it.
pub(super) fn find(lines: &[&str], usage: &Usage) -> Option<String> {
    let (start, end) = usage.place;
    let before = lines.get(..start).unwrap_or_default();
    let after = lines.get(end..).unwrap_or_default();
    of_manual(lines).or_else(|| {
        let (mut before, mut after) = (paragraphs(before), paragraphs(after).take(2));
        before.find_map(|lines| described(&lines)).or_else(|| after.find_map(|lines| described(&lines)))
    })
}

/// The line below `NAME` on a manual page: `git-log - Show commit logs`.
fn of_manual(lines: &[&str]) -> Option<String> {
    let name = lines.iter().position(|line| *line == "NAME")?;
    let (_, words) = lines.get(name + 1)?.split_once(" - ")?;
    Some(words.trim().to_owned())
}

fn paragraphs<'l>(lines: &'l [&'l str]) -> impl Iterator<Item = Vec<&'l str>> {
    lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty()).map(<[&str]>::to_vec)
}

/// The paragraph as one text, unless it is a heading, a list or just the name of the program and its version.
fn described(paragraph: &[&str]) -> Option<String> {
    let paragraph = match paragraph {
        ["Description:" | "DESCRIPTION", rest @ ..] => rest,
        all => all,
    };
    let first = paragraph.first()?.trim();
    let is_list = first.ends_with(':') || paragraph.iter().any(|line| line.trim_start().starts_with('-'));
    let is_heading = !first.chars().any(char::is_lowercase);
    let text = paragraph.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let words = text.split_whitespace().count();
    let has_digit = text.contains(|letter: char| letter.is_ascii_digit());
    let lower = text.to_ascii_lowercase();
    let is_version = has_digit && (words <= 3 || lower.contains("version") || lower.contains("(1)"));
    // The message of a program that does not know `--help`, before it shows its usage all the same.
    let complaints = ["unknown option", "illegal option", "invalid option", "unrecognized", "error:"];
    let is_complaint = complaints.iter().any(|words| lower.contains(words));
    if is_complaint || is_list || is_heading || is_version || words < 2 {
        return None;
    }
    Some(text.chars().take(LONGEST_DESCRIPTION).collect())
}
