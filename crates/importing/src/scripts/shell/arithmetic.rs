//! Expressions of a shell command: texts that the shell evaluates as a number or as the name of a variable. Both run a
//! command for a value like `a[$(command)]`.

use super::expansion::plain;
use super::flow::{assignments, own_words};
use super::lexer::{self, Token};
use super::tree::Command;
use std::collections::BTreeSet;

/// How many substitutions may be inside each other.
const DEEPEST: usize = 20;

const COMPARISONS: [&str; 6] = ["-eq", "-ge", "-gt", "-le", "-lt", "-ne"];

/// A text that the shell evaluates.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// As a number, with the variables that it names.
    Number(String),
    /// As the name of a variable.
    Name(String),
}

/// What the declarations of a script say about its variables, and how its shell compares.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Arrays whose subscripts are texts: `declare -A`.
    pub(super) tables: BTreeSet<String>,
    /// Variables whose every value is evaluated: `declare -i`.
    pub(super) integers: BTreeSet<String>,
    /// Whether `[ A -gt B ]` evaluates as `[[` does: ksh and zsh.
    pub(super) tests_evaluate: bool,
}

impl Declared {
    /// Notes what a command declares.
    pub(super) fn note(&mut self, command: &Command) {
        let Some((first, rest)) = own_words(command).split_first() else { return };
        let flags = flags(rest);
        if !is_declaration(first) {
            return;
        }
        let names = rest.iter().filter(|word| !word.starts_with(['-', '+']));
        let names = names.filter_map(|word| word.split('=').next()).map(str::to_owned);
        if flags.contains('A') {
            self.tables.extend(names);
        } else if flags.contains('i') || first == "integer" {
            self.integers.extend(names);
        }
    }

    /// All expressions of a command, besides those of the commands inside its substitutions.
    pub(super) fn expressions(&self, command: &Command) -> Vec<Expression> {
        let mut found = Vec::new();
        for word in command.words.iter().chain(command.redirections.iter().map(|(_, target)| target)) {
            self.of_word(word, &mut found);
        }
        if let Some(body) = &command.here_document {
            self.scan(body, true, 0, &mut found);
        }
        let integers = assignments(command).into_iter().filter(|(name, ..)| self.integers.contains(*name));
        found.extend(integers.map(|(_, _, value)| Expression::Number(value.to_owned())));
        self.of_words(own_words(command), &mut found);
        found
    }

    /// The expressions inside a word: `$((…))`, `${a[…]}`, `${a:…}`, `${!a}`, `a[…]=`.
    pub(super) fn of_word(&self, word: &str, found: &mut Vec<Expression>) {
        self.scan(word, false, 0, found);
        let name = word.split('[').next().unwrap_or_default();
        let is_element = !name.is_empty() && is_name(name) && (word.contains("]=") || word.contains("]+="));
        if is_element && !self.tables.contains(name) {
            found.push(Expression::Number(subscript(&word[name.len()..]).to_owned()));
        }
        if word.contains("=(") {
            for element in word.split(['(', ' ', '\t', '\n']).filter(|element| element.starts_with('[')) {
                if !self.tables.contains(word.split('=').next().unwrap_or_default()) {
                    found.push(Expression::Number(subscript(element).to_owned()));
                }
            }
        }
    }

    /// The expressions that a command takes as its words.
    fn of_words(&self, words: &[String], found: &mut Vec<Expression>) {
        let Some((first, rest)) = words.split_first() else { return };
        let texts = || rest.iter().map(|word| word.trim_matches('"').to_owned());
        let mut names = |words: &mut dyn Iterator<Item = String>| {
            found.extend(words.filter(|word| word.contains(['$', '`'])).map(Expression::Name));
        };
        match &**first {
            "let" => found.extend(texts().map(Expression::Number)),
            "read" | "mapfile" | "readarray" | "unset" => {
                // The word after `-p` is a prompt, those after others are numbers.
                let takes_next = |word: &String| {
                    word.starts_with('-') && word.ends_with(['C', 'N', 'O', 'c', 'd', 'i', 'n', 'p', 'u'])
                };
                let before = std::iter::once(false).chain(rest.iter().map(takes_next));
                let is_name = |(word, is_operand): (String, bool)| {
                    (!is_operand && !word.starts_with('-')).then_some(word)
                };
                names(&mut texts().zip(before).filter_map(is_name));
            }
            "getopts" => names(&mut texts().skip(1).take(1)),
            "printf" if rest.first().is_some_and(|word| word == "-v") => names(&mut texts().skip(1).take(1)),
            "[" | "test" => of_test(rest, self.tests_evaluate, found),
            declares if is_declaration(declares) => {
                let flags = flags(rest);
                for word in texts().filter(|word| !word.starts_with('-')) {
                    let (name, value) = word.split_once('=').unwrap_or((&word, ""));
                    if name.contains(['$', '`']) && !name.starts_with("$(") {
                        found.push(Expression::Name(name.to_owned()));
                    }
                    if flags.contains('n') {
                        found.push(Expression::Name(value.to_owned()));
                    }
                }
            }
            _ if first.starts_with("((") => found.push(Expression::Number(first[2..].to_owned())),
            _ if first.starts_with("[[") => {
                let text = [&first[2..], &rest.join(" ")].join(" ");
                let text = text.trim_end().trim_end_matches("]]");
                match lexer::tokens(text) {
                    Some(tokens) => {
                        let words = tokens.into_iter().filter_map(|token| match token {
                            Token::Word(word) => Some(word),
                            _ => None,
                        });
                        of_test(&words.collect::<Vec<_>>(), true, found);
                    }
                    None => found.push(Expression::Number(text.to_owned())),
                }
            }
            _ => {}
        }
    }

    fn scan(&self, text: &str, is_quoted: bool, depth: usize, found: &mut Vec<Expression>) {
        each_dollar(text, is_quoted, &mut |dollar| {
            if depth > DEEPEST {
                return;
            }
            match dollar {
                Dollar::Number(inner) => {
                    found.push(Expression::Number(inner.to_owned()));
                    self.scan(inner, true, depth + 1, found);
                }
                Dollar::Braces(inner) => self.of_braces(inner, depth, found),
                Dollar::Command(_) => {}
            }
        });
    }

    /// `${…}`
    fn of_braces(&self, inner: &str, depth: usize, found: &mut Vec<Expression>) {
        let is_named = inner.starts_with('!') && !inner.ends_with(['@', '*', ']']) && inner.len() > 1;
        let body = inner.trim_start_matches(['!', '#']);
        let end = body.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, mut rest) = body.split_at(end.unwrap_or(body.len()));
        if is_named && !name.is_empty() {
            found.push(Expression::Name(format!("${{{name}}}")));
        }
        let inside = rest;
        if rest.starts_with('[') {
            let text = subscript(rest);
            if !self.tables.contains(name) && !matches!(text, "@" | "*") {
                found.push(Expression::Number(text.to_owned()));
            }
            rest = rest[1 + text.len()..].trim_start_matches(']');
        }
        let rest = rest.trim_start_matches(['@', '*']);
        // `${NAME@P}` expands the value like a prompt.
        if inside.contains("@P") {
            found.push(Expression::Name(format!("${{{name}}}")));
        }
        if let Some(range) = rest.strip_prefix(':')
            && !range.starts_with(['-', '=', '?', '+'])
        {
            found.push(Expression::Number(range.to_owned()));
        }
        self.scan(inside, true, depth + 1, found);
    }
}

fn of_test(words: &[String], evaluates: bool, found: &mut Vec<Expression>) {
    for (index, word) in words.iter().enumerate() {
        if matches!(&**word, "-v" | "-R")
            && let Some(name) = words.get(index + 1)
        {
            found.push(Expression::Name(name.clone()));
        }
        if evaluates && COMPARISONS.contains(&&**word) {
            let sides = [index.checked_sub(1), Some(index + 1)].into_iter().flatten();
            let sides = sides.filter_map(|side| words.get(side)).cloned();
            found.extend(sides.map(Expression::Number));
        }
    }
}

fn is_declaration(word: &str) -> bool {
    matches!(word, "declare" | "export" | "integer" | "local" | "readonly" | "typeset")
}

fn flags(words: &[String]) -> String {
    words.iter().filter(|word| word.starts_with('-')).map(String::as_str).collect()
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The text inside the brackets that a text begins with.
fn subscript(text: &str) -> &str {
    let mut depth = 0_usize;
    let end = text.find(|letter| {
        depth += usize::from(letter == '[');
        depth -= usize::from(letter == ']');
        depth == 0
    });
    text.get(1..end.unwrap_or(text.len())).unwrap_or_default()
}

/// What a `$` or a backtick begins.
pub(super) enum Dollar<'t> {
    /// The text in `$((…))` or `$[…]`.
    Number(&'t str),
    /// The text in `${…}`.
    Braces(&'t str),
    /// The text in `$(…)`, backticks or `<(…)`.
    Command(&'t str),
}

/// Calls a function with what each `$` of a word begins, outside single quotes, but not inside others.
pub(super) fn each_dollar<'t>(text: &'t str, is_quoted: bool, visit: &mut dyn FnMut(Dollar<'t>)) {
    let (mut at, mut in_double) = (0, is_quoted);
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match letter {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' if !in_double => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '"' => {
                in_double = !in_double || is_quoted;
                1
            }
            '`' => {
                let length = rest[1..].find('`').unwrap_or(rest.len() - 1);
                visit(Dollar::Command(&rest[1..=length]));
                (length + 2).min(rest.len())
            }
            '<' | '>' if rest[1..].starts_with('(') => {
                let length = lexer::substitution(rest).unwrap_or(1);
                visit(Dollar::Command(rest.get(2..length.max(3) - 1).unwrap_or_default()));
                length
            }
            '$' if rest.starts_with("$[") => {
                let inner = subscript(&rest[1..]);
                visit(Dollar::Number(inner));
                (inner.len() + 3).min(rest.len())
            }
            '$' => {
                let length = lexer::substitution(rest).unwrap_or(1);
                let whole = &rest[..length];
                let inside = |open, close| whole.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
                if let Some(inner) = inside("$((", "))") {
                    visit(Dollar::Number(inner));
                } else if let Some(inner) = inside("$(", ")") {
                    visit(Dollar::Command(inner));
                } else if let Some(inner) = inside("${", "}") {
                    visit(Dollar::Braces(inner));
                }
                length
            }
            _ => letter.len_utf8(),
        };
    }
}

/// The variables that an expression names without a `$`.
pub(super) fn bare_names(expression: &str) -> Vec<&str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = expression[at..].chars().next() {
        let rest = &expression[at..];
        if letter == '$' {
            at += super::expansion::length(rest);
        } else if is_letter(letter) {
            let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
            if !letter.is_ascii_digit() {
                found.push(&rest[..end]);
            }
            at += end;
        } else {
            at += letter.len_utf8();
        }
    }
    found
}

/// Commands in a text that a builtin runs later or at once: `trap '…' EXIT`, `eval '…'`.
pub(super) fn quoted_code(command: &Command) -> Option<String> {
    let words = own_words(command);
    let is_code = words.first().is_some_and(|word| matches!(&**word, "trap" | "eval"));
    plain(words.get(1)?).filter(|_| is_code)
}

/// Whether a text that cannot be read as a script may evaluate something.
pub(super) fn may_evaluate(text: &str) -> bool {
    ["((", "$[", "[[", "[$", "${!", "let ", "printf -v", "declare ", "typeset ", "integer "]
        .iter()
        .any(|sign| text.contains(sign))
}
