//! Shell text: the position of a value that is pasted into a shell command. The text is read only as far as needed to
//! tell whether the value would be a command, or code of an interpreter. Quoting is never relied upon.

use mcp_bash_hazards::{Piece, Verdict, Word, judge};

/// Words after which a command begins.
const KEYWORDS: [&str; 16] = [
    "!", "builtin", "command", "coproc", "do", "elif", "else", "exec", "if", "shell", "then", "time", "trap",
    "until", "while", "{",
];

/// Whether a value after this text would be run: as a command, or as code that a command reads.
pub(crate) fn runs_what_follows(before: &str) -> bool {
    let (words, partial) = last_command(before);
    let mut words = words.iter().map(|word| &**word).skip_while(|word| is_prefix(word));
    let Some(program) = words.next() else { return true };
    let mut pieces: Vec<Piece<'_>> = words.map(|word| Piece::Always(Word::Fixed(word))).collect();
    pieces.push(Piece::Always(Word::Value { prefix: &partial, is_plain: false, may_be_option: false }));
    judge(program, &pieces).words.iter().any(|verdict| matches!(verdict, Verdict::Code { .. }))
}

/// Whether this word does not begin the command yet: make's `@`, a variable for the command, a keyword.
fn is_prefix(word: &str) -> bool {
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    word.is_empty() || is_assignment || KEYWORDS.contains(&word)
}

/// The complete words of the last command of a text, and the incomplete word after them.
fn last_command(text: &str) -> (Vec<String>, String) {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut quote, mut before) = (None, ' ');
    // Prefixes of make and just at the beginning of a recipe's line.
    for letter in text.trim_start().trim_start_matches(['@', '-', '+']).chars() {
        // A substitution also begins a command inside double quotes, and inside quotes that are a mistake of the text.
        let begins_command = match quote {
            Some(_) => letter == '`' || letter == '(' && before == '$',
            None => matches!(letter, ';' | '&' | '|' | '(' | '`' | '\n'),
        };
        match (quote, letter) {
            _ if begins_command => {
                words.clear();
                word.clear();
                quote = None;
            }
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ' ' | '\t') => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(letter),
        }
        before = letter;
    }
    (words, word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_would_be_run_is_told_from_what_is_given_to_a_command() {
        for before in [
            "",
            "@",
            "\t@-",
            "./",
            "scripts/run-",
            "A=1 ",
            "cd x && ",
            "cat x | ",
            "echo $(",
            "echo \"$(",
            "echo `",
            "if ",
            "exec ",
            "eval ",
            "eval \"",
            "sh -c '",
            "bash -c \"echo ",
            "sudo ",
            "xargs ",
            "ssh host ",
            "find . -exec ",
            "python3 -c 'print(",
            "awk '",
            "x=$(shell ",
            "nice -n 5 env A=1 ",
        ] {
            assert!(runs_what_follows(before), "{before:?}");
        }
        for before in [
            "echo ",
            "echo \"hello ",
            "cargo build --profile=",
            "cd x && ls ",
            "cat <<EOF ",
            "$(CC) ",
            "rm -rf out/",
            "docker build -t me/",
            "git commit -m '",
            "./deploy ",
            "python3 script.py ",
            "for x in ",
            "test \"",
        ] {
            assert!(!runs_what_follows(before), "{before:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([a-z$(){}'\"`;|& \\n@=éA-])*") {
            runs_what_follows(&text);
        }
    }
}
