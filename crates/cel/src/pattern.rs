//! Regular expressions in the syntax of RE2: linear in time, bounded in size.
//!
//! `\d`, `\w` and `\s` mean ASCII, as in RE2. The engine could fall back to simulating an automaton state by state, so a
//! byte of a text costs more the larger the automaton is.

use regex::{Regex, RegexBuilder};

/// The largest automata, in bytes, and what a byte of text costs in each class.
const CLASSES: [(usize, usize); 3] = [(2 * 1024, 4), (16 * 1024, 16), (128 * 1024, 128)];

/// The memory of the cache of an automaton, in bytes.
pub(crate) const CACHE: usize = 512 * 1024;

/// The longest pattern, in bytes.
const LONGEST: usize = 2000;

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    /// Units for each byte of a text.
    cost: usize,
}

impl Pattern {
    /// Compiles a pattern; or returns why it is refused.
    pub fn compile(source: &str) -> Result<Self, PatternError> {
        Self::within(source, CLASSES.len())
    }

    /// The same for a pattern that is computed during an evaluation, which may only be small.
    pub(crate) fn compile_small(source: &str) -> Result<Self, PatternError> {
        Self::within(source, 1)
    }

    fn within(source: &str, classes: usize) -> Result<Self, PatternError> {
        if source.len() > LONGEST {
            return Err(PatternError::TooLong(source.len()));
        }
        let translated = ascii_classes(source);
        for (limit, cost) in &CLASSES[..classes] {
            let built = RegexBuilder::new(&translated)
                .size_limit(*limit)
                .dfa_size_limit(CACHE)
                .nest_limit(50)
                .build();
            match built {
                Ok(regex) => return Ok(Self { regex, cost: *cost }),
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(error) => {
                    let words = error.to_string();
                    return Err(PatternError::Syntax(last_line(&words).to_owned()));
                }
            }
        }
        Err(PatternError::TooLarge)
    }

    /// What matching a text costs, in units of a [`Budget`](crate::Budget).
    pub fn cost(&self, text: &str) -> usize {
        text.len().saturating_mul(self.cost)
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The pattern in the syntax of the engine.
    pub(crate) fn translated(&self) -> &str {
        self.regex.as_str()
    }

    /// Units for each byte of a text.
    pub(crate) fn units(&self) -> usize {
        self.cost
    }
}

/// Why a pattern is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("{0} bytes are too long; at most {LONGEST} are allowed")]
    TooLong(usize),
    #[error("its automaton is too large; use smaller repetitions")]
    TooLarge,
    #[error("`\\B` cannot be used to redact")]
    Boundary,
    #[error("{0}")]
    Syntax(String),
}

/// The engine draws the place of a syntax error over several lines; the last one says what is wrong.
fn last_line(words: &str) -> &str {
    let line = words.lines().last().unwrap_or_default().trim();
    line.strip_prefix("error: ").unwrap_or(line)
}

/// The pattern with the classes of RE2: `\d`, `\w`, `\s` and `\b` know ASCII only, and a class has no operators.
fn ascii_classes(source: &str) -> String {
    let mut text = String::with_capacity(source.len() + 16);
    let mut letters = source.chars().peekable();
    let mut in_class = false;
    while let Some(letter) = letters.next() {
        // Two hyphens would be an operator.
        let follows_hyphen = in_class && text.ends_with('-') && !text.ends_with("\\-");
        match letter {
            '\\' => match (letters.next(), in_class) {
                (Some('d'), true) => text.push_str("0-9"),
                (Some('w'), true) => text.push_str("0-9A-Za-z_"),
                (Some('s'), true) => text.push_str("\\t\\n\\f\\r "),
                (Some('d'), false) => text.push_str("[0-9]"),
                (Some('w'), false) => text.push_str("[0-9A-Za-z_]"),
                (Some('s'), false) => text.push_str("[\\t\\n\\f\\r ]"),
                (Some('D'), _) => text.push_str("[^0-9]"),
                (Some('W'), _) => text.push_str("[^0-9A-Za-z_]"),
                (Some('S'), _) => text.push_str("[^\\t\\n\\f\\r ]"),
                (Some('b'), false) => text.push_str("(?-u:\\b)"),
                (Some(other), _) => text.extend(['\\', other]),
                (None, _) => text.push('\\'),
            },
            '[' if !in_class => {
                in_class = true;
                text.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    text.push('^');
                }
                if letters.next_if_eq(&']').is_some() {
                    text.push_str("\\]");
                } else if letters.next_if_eq(&'-').is_some() {
                    text.push_str("\\-");
                }
            }
            '[' if letters.peek() == Some(&':') => {
                // A class such as `[:alpha:]`, up to its end.
                text.push('[');
                for letter in letters.by_ref() {
                    text.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
            }
            ']' if in_class => {
                in_class = false;
                text.push(']');
            }
            '-' if follows_hyphen => text.push_str("\\-"),
            '[' | '&' | '~' if in_class => text.extend(['\\', letter]),
            other => text.push(other),
        }
    }
    text
}
