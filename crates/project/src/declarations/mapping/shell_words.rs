//! Words that only a shell understands. No shell reads `command` and `argv`, so a program would receive them as they are
//! written: `|` and `wc` as the names of two files.

use super::error::MappingError;
use serde_json::Value;

/// Words that join commands or redirect them.
const OPERATORS: [&str; 15] =
    ["|", "||", "|&", "&", "&&", ";", ">", ">>", "<", "<<", "<<<", "2>", "2>>", "2>&1", "&>"];

/// Refuses the first word that was meant for a shell.
pub(super) fn refuse(words: &[Value], key: &'static str) -> Result<(), MappingError> {
    let mut before = "";
    for word in words {
        let word = word.as_str().unwrap_or_default();
        // Behind an option, `*.log` is a pattern for the program: `find -name *.log`.
        let is_pattern = before.starts_with('-') || word.starts_with('-');
        let meaning = if OPERATORS.contains(&word) {
            Some("joins or redirects commands")
        } else if begins_with_variable(word) {
            Some("stands for a variable of the environment or for a command")
        } else if word.starts_with("~/") || word == "~" {
            Some("stands for the home folder")
        } else if word.contains('*') && !word.contains(char::is_whitespace) && !is_pattern {
            Some("stands for the files that match it")
        } else {
            None
        };
        if let Some(meaning) = meaning {
            return Err(MappingError::ShellWord { key, word: word.to_owned(), meaning });
        }
        before = word;
    }
    Ok(())
}

/// Whether a word, or the value of its option, begins with `$NAME`, `${…}`, `$(…)` or a command between backticks. Inside a
/// word it may be code for the program, such as `{print $NF}`.
fn begins_with_variable(word: &str) -> bool {
    let value =
        if word.starts_with('-') { word.split_once('=').map_or(word, |(_, value)| value) } else { word };
    let is_name = |rest: &str| {
        rest.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '{' | '('))
    };
    value.strip_prefix('$').is_some_and(is_name)
        || (value.len() > 1 && value.starts_with('`') && value.ends_with('`'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(words: &Value) -> Option<String> {
        refuse(words.as_array().unwrap(), "command").err().map(|error| error.to_string())
    }

    #[test]
    fn words_for_a_shell_are_refused_with_the_way_out() {
        for (words, word) in [
            (json!(["|", "wc"]), "`|`"),
            (json!(["a", "&&", "b"]), "`&&`"),
            (json!(["a", "2>&1"]), "`2>&1`"),
            (json!(["$HOME/logs"]), "`$HOME/logs`"),
            (json!(["--out=${OUT}"]), "`--out=${OUT}`"),
            (json!(["$(date)"]), "`$(date)`"),
            (json!(["`date`"]), "``date``"),
            (json!(["~/logs"]), "`~/logs`"),
            (json!(["*.log"]), "`*.log`"),
            (json!(["logs/*"]), "`logs/*`"),
        ] {
            let problem = refused(&words).unwrap_or_else(|| panic!("{words} is accepted"));
            assert!(problem.contains(word) && problem.contains("tool.sh"), "{problem}");
        }
    }

    #[test]
    fn words_for_the_program_are_accepted() {
        for words in [
            json!([".", "-name", "*.log"]),
            json!(["--include=*.rs", "-e", "a|b"]),
            json!(["{print $NF}", "file"]),
            json!([".items[] | .name"]),
            json!(["SELECT * FROM t"]),
            json!(["$1", "a$", "cost: $5", "{path}"]),
            json!(["a&b", "x>y"]),
        ] {
            assert_eq!(refused(&words), None, "{words}");
        }
    }
}
