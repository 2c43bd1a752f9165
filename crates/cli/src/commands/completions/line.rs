//! Bash line: the typed line up to the cursor, split into words.

/// The words after the program's name. The last one is being typed, and is empty after a space.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut has_begun) = (Vec::new(), String::new(), None, false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, ' ' | '\t') => {
                if std::mem::take(&mut has_begun) {
                    words.push(std::mem::take(&mut word));
                }
                continue;
            }
            // Another command begins.
            (None, '|' | ';' | '&') => {
                words.clear();
                word.clear();
                has_begun = false;
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None | Some('"'), '\\') => word.extend(letters.next()),
            _ => word.push(letter),
        }
        has_begun = true;
    }
    words.push(word);
    if !words.is_empty() {
        words.remove(0);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_as_a_shell_does() {
        for (line, expected) in [
            ("mcp-bash", &[][..]),
            ("mcp-bash ", &[""]),
            ("mcp-bash call he", &["call", "he"]),
            ("  mcp-bash  call 'a b' \"c d", &["call", "a b", "c d"]),
            ("ls | mcp-bash call a\\ b=", &["call", "a b="]),
            ("mcp-bash call '' ", &["call", "", ""]),
            ("mcp-bash a\\", &["a"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }
}
