//! What a program says of itself, in one paragraph.

use super::LONGEST_DESCRIPTION;
use super::usage::Usage;

/// The first paragraph before the usage, else the first after it.
pub(super) fn find(lines: &[&str], usage: &Usage) -> Option<String> {
    let (start, end) = usage.place;
    let before = lines.get(..start).unwrap_or_default();
    let after = lines.get(end..).unwrap_or_default();
    paragraphs(before).chain(paragraphs(after).take(2)).find_map(|paragraph| described(&paragraph))
}

fn paragraphs<'l>(lines: &'l [&'l str]) -> impl Iterator<Item = Vec<&'l str>> {
    lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty()).map(<[&str]>::to_vec)
}

/// The paragraph as one text, unless it is a heading, a list or only the name of the program and its version.
fn described(paragraph: &[&str]) -> Option<String> {
    let first = paragraph.first()?.trim();
    let is_list = first.ends_with(':') || paragraph.iter().any(|line| line.trim_start().starts_with('-'));
    let is_heading = !first.chars().any(char::is_lowercase);
    let text = paragraph.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let words = text.split_whitespace().count();
    let is_version = words <= 3 && text.contains(|letter: char| letter.is_ascii_digit());
    if is_list || is_heading || is_version || words < 2 {
        return None;
    }
    Some(text.chars().take(LONGEST_DESCRIPTION).collect())
}
