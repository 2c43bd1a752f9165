//! Shell quoting, for commands that people are advised to run.

use std::path::Path;

/// The text quoted as one word for a shell.
pub fn shell_word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The same for a path.
pub fn shell_path(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::shell_word;
    use std::process::Command;

    #[test]
    fn a_shell_reads_one_word_and_nothing_else() {
        for text in [
            "", "a", "/p/a b", "it's", "$(id)", "`id`", "a;b", "*", "~", "a\nb", "\"", "\\", "-n", "é", "a=b",
        ] {
            let command = format!("for word in {}; do printf '%s|' \"$word\"; done", shell_word(text));
            let output = Command::new("sh").args(["-c", &command]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{text}|"));
        }
    }
}
