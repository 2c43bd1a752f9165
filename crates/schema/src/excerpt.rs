//! Excerpts: short pieces of values that may be megabytes long.

pub(crate) use mcp_bash_harmless::clip;

/// How much of a value a sentence shows, in characters.
const VALUE: usize = 80;
/// How much of a path, a name or a pattern a sentence shows, in characters.
const NAME: usize = 200;

/// A value as it was written, on one line.
pub(crate) fn value(text: &str) -> String {
    clip(text, VALUE).replace(['\n', '\r', '\t'], " ")
}

/// A path, a name or a pattern between backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", clip(name, NAME))
}

/// `a`, `a or b`, `a, b or c`; of many only the first ones.
pub(crate) fn either(items: &[String]) -> String {
    match few(items).as_slice() {
        [rest @ .., end] if !rest.is_empty() => format!("{} or {end}", rest.join(", ")),
        items => items.join(", "),
    }
}

/// `a, b, c`; of many only the first ones.
pub(crate) fn list(items: &[String]) -> String {
    few(items).join(", ")
}

fn few(items: &[String]) -> Vec<String> {
    const MOST: usize = 30;
    let rest = (items.len() > MOST).then(|| format!("{} others", items.len() - MOST));
    items.iter().take(MOST).cloned().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_things_are_cut_between_characters() {
        assert_eq!(value("\"short\""), "\"short\"");
        assert_eq!(value(&"é".repeat(1000)), "é".repeat(80) + "…");
        assert_eq!(value("[1,\n2]"), "[1, 2]");
        assert_eq!(quoted(&"n".repeat(300)).chars().count(), 203);
    }

    #[test]
    fn lists_read_like_sentences() {
        let items = |count: usize| (0..count).map(|item| item.to_string()).collect::<Vec<_>>();
        assert_eq!(either(&items(1)), "0");
        assert_eq!(either(&items(2)), "0 or 1");
        assert_eq!(either(&items(3)), "0, 1 or 2");
        assert_eq!(list(&items(3)), "0, 1, 2");
        assert!(list(&items(35)).ends_with(", 28, 29, 5 others"));
    }
}
