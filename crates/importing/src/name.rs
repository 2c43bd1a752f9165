//! Names that every client and model accepts.

/// The longest tool name that all clients accept.
pub(crate) const LONGEST: usize = 64;

/// A tool name for something that is called `words` in its file; `None` if no letter or digit is left.
pub fn tool_name(words: &str) -> Option<String> {
    let name = dashed(words);
    let name = if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name };
    let name = name[..name.len().min(LONGEST)].trim_end_matches('-').to_owned();
    (!name.is_empty()).then_some(name)
}

/// The same for an argument.
pub(crate) fn argument_name(words: &str) -> Option<String> {
    tool_name(words)
}

/// Letters, digits and `_`, with one `-` for anything else between them.
fn dashed(words: &str) -> String {
    let mut name = String::new();
    for letter in words.chars().take(4 * LONGEST) {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            name.push(letter);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_every_client() {
        for (words, name) in [
            ("build", Some("build")),
            ("docker:build", Some("docker-build")),
            ("a  b//c.", Some("a-b-c")),
            ("_x", Some("_x")),
            ("7zip", Some("_7zip")),
            ("--", None),
            ("äöü", None),
        ] {
            assert_eq!(tool_name(words).as_deref(), name, "{words}");
        }
        assert_eq!(tool_name(&"x-".repeat(500)).unwrap().len(), 63);
    }
}
