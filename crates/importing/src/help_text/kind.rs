//! Value type: guessed from a placeholder and its description.

use crate::argument::ArgumentKind;

const INTEGERS: [&str; 24] = [
    "COLS", "COLUMNS", "COUNT", "DEPTH", "HEIGHT", "INT", "INT32", "INT64", "INTEGER", "JOBS", "LINES", "N",
    "NUM", "NUMS", "NPROCS", "PID", "PORT", "THREADS", "U16", "U32", "U64", "UINT", "UINT64", "WIDTH",
];
const NUMBERS: [&str; 9] =
    ["F32", "F64", "FLOAT", "FLOAT32", "FLOAT64", "NUMBER", "SECONDS", "SECS", "RATIO"];

/// The placeholder of a value: `<FILE>`, `[=WHEN]`, `NUM...`, `{a,b}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// Without brackets and dots.
    pub(super) name: String,
    pub(super) is_list: bool,
    pub(super) choices: Vec<String>,
}

impl Placeholder {
    /// Reads a placeholder, which may be followed by others like it: `FILE [FILE ...]`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let is_list = text.contains("...") || text.contains('…');
        let text = text.replace("...", " ").replace('…', " ");
        let first = first_word(text.trim_matches(['[', ']', '=', ' ']))?;
        let inner = first.trim_matches(['<', '>', '[', ']', '{', '}', '"', '\'', '=']);
        // A sign that a number may have.
        let inner = inner.strip_prefix("-]").or(inner.strip_prefix("+]")).unwrap_or(inner);
        let separators = if first.starts_with('{') { &[',', '|'][..] } else { &['|'][..] };
        let choices: Vec<&str> = inner.split(separators).map(str::trim).collect();
        let choices = if choices.len() > 1 && choices.iter().all(|choice| is_choice(choice)) {
            choices.into_iter().map(str::to_owned).collect()
        } else {
            Vec::new()
        };
        (!inner.is_empty()).then(|| Self { name: inner.to_owned(), is_list, choices })
    }

    /// The type of the value, considering its description.
    pub(super) fn kind(&self, description: &str) -> ArgumentKind {
        let choices = if self.choices.is_empty() { choices_in(description) } else { self.choices.clone() };
        let lower = description.to_ascii_lowercase();
        let is_repeated = [
            "multiple times",
            "more than once",
            "can be repeated",
            "may be repeated",
            "be specified repeatedly",
        ];
        let type_name = self.name.to_ascii_uppercase();
        let is_list_type = matches!(&*type_name, "STRINGS" | "STRINGARRAY" | "STRINGSLICE");
        if self.is_list || is_list_type || is_repeated.iter().any(|words| lower.contains(words)) {
            return ArgumentKind::List(choices);
        }
        if !choices.is_empty() {
            return ArgumentKind::OneOf(choices);
        }
        if INTEGERS.contains(&&*type_name) {
            ArgumentKind::Integer
        } else if NUMBERS.contains(&&*type_name) {
            ArgumentKind::Number
        } else {
            ArgumentKind::Text
        }
    }
}

/// The first word; brackets keep their content together.
fn first_word(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (index, letter) in text.char_indices() {
        match letter {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return Some(&text[..index]),
            _ => {}
        }
    }
    (!text.is_empty()).then_some(text)
}

fn is_choice(word: &str) -> bool {
    let is_letter =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | '/' | '+');
    !word.is_empty() && word.len() <= 40 && !word.starts_with('-') && word.chars().all(is_letter)
}

/// The values that a description lists: `[possible values: a, b]`, `(choices: "a", "b")`, or one on each line.
fn choices_in(description: &str) -> Vec<String> {
    let lower = description.to_ascii_lowercase();
    let marks = ["possible values:", "choices:", "allowed values:", "valid values:"];
    let Some(start) = marks.iter().find_map(|mark| Some(lower.find(mark)? + mark.len())) else {
        return Vec::new();
    };
    // Letters keep their length in this, which is ASCII only.
    let rest = &description[start..];
    if rest.trim_start().starts_with("- ") {
        let values =
            rest.split(" - ").filter_map(|part| part.trim_start_matches("- ").split([':', ' ', '\n']).next());
        return kept(values.map(str::to_owned).collect());
    }
    let end = rest.find([']', ')', '\n']).unwrap_or(rest.len());
    kept(rest[..end].split(',').map(|word| word.trim().trim_matches(['"', '\'', '`']).to_owned()).collect())
}

/// All of them, or none if one looks like something else.
fn kept(mut choices: Vec<String>) -> Vec<String> {
    choices.retain(|choice| !choice.is_empty());
    let mut seen = std::collections::BTreeSet::new();
    choices.retain(|choice| seen.insert(choice.clone()));
    if choices.len() <= 100 && choices.iter().all(|choice| is_choice(choice)) { choices } else { Vec::new() }
}
