//! First line of a description: whether it says something by itself, because some clients show models nothing else.

/// Words that are only a heading, and say nothing about a tool.
const HEADINGS: [&str; 12] = [
    "about",
    "args",
    "arguments",
    "description",
    "example",
    "examples",
    "note",
    "overview",
    "parameters",
    "summary",
    "synopsis",
    "usage",
];

/// The problem with the first line of a description that is not empty.
pub(super) fn problem(description: &str) -> Option<&'static str> {
    let mut lines = description.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let word = first.trim_start_matches(['#', ' ']).trim_end_matches(':').to_ascii_lowercase();
    let begins_usage = word.split_once(':').is_some_and(|(heading, _)| heading == "usage");
    if first.is_empty() {
        Some("is empty")
    } else if HEADINGS.contains(&&*word) || begins_usage {
        Some("is a heading")
    } else if first.ends_with(':') {
        Some("ends with a colon")
    } else if goes_on(first, lines.next().unwrap_or_default()) {
        Some("ends in the middle of a sentence")
    } else {
        None
    }
}

/// Whether a line continues the sentence before it.
fn goes_on(first: &str, next: &str) -> bool {
    !first.ends_with(['.', '!', '?', '…']) && next.starts_with(|c: char| c.is_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_needs_the_next_one_is_found() {
        for (text, expected) in [
            ("Adds two numbers", None),
            ("Adds two numbers.\nUse it for sums.", None),
            ("Adds two numbers\n\nArgs:\n  a: one", None),
            ("Adds two numbers\n- of any size", None),
            ("Warning: slow", None),
            ("\nAdds two numbers", Some("is empty")),
            ("Usage: add A B", Some("is a heading")),
            ("## Description\nAdds", Some("is a heading")),
            ("This tool does the following:\n- adds", Some("ends with a colon")),
            ("Adds two numbers of any size,\nand returns", Some("ends in the middle of a sentence")),
        ] {
            assert_eq!(problem(text), expected, "{text:?}");
        }
    }
}
