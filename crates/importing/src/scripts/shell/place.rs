//! Places of commands: whose words the positions of a command are, and what its values are called.

use super::flow::own_words;
use super::tree::Command;

/// All words of the script or of a function, or one of them that is not known.
pub(super) const ANY_WORD: &str = "@";

/// A word that an option loop puts aside before it knows which option it belongs to.
pub(super) const WORD_OF_LOOP: &str = "a word of its loop";

/// Where a command is: whose words its positions are.
#[derive(Debug, Clone, Default)]
pub(super) struct Place<'t> {
    pub(super) function: Option<&'t str>,
    pub(super) shift: usize,
    /// Whether it is not known how many words have been shifted.
    pub(super) is_loose: bool,
    /// The name of the word at hand in an option loop.
    pub(super) holder: Option<String>,
    /// Whether it is an arm of that loop: these are judged one by one.
    pub(super) is_arm: bool,
}

impl Place<'_> {
    /// The name of a value; `None` if no caller chooses it.
    pub(super) fn name(&self, name: &str) -> Option<String> {
        let is_word = name.starts_with(|first: char| first.is_ascii_digit()) || matches!(name, "@" | "*");
        if let Some(holder) = &self.holder
            && (is_word || name == holder || name == "OPTARG")
        {
            return (!self.is_arm).then(|| WORD_OF_LOOP.to_owned());
        }
        if !is_word {
            let is_variable =
                name.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_'));
            return is_variable.then(|| name.to_owned());
        }
        let word = match name.parse::<usize>() {
            Ok(0) => return None,
            Ok(number) if !self.is_loose => number.saturating_add(self.shift).to_string(),
            _ => ANY_WORD.to_owned(),
        };
        Some(self.function.map_or(word.clone(), |function| format!("{function} {word}")))
    }
}

/// Follows `shift`.
pub(super) fn shift(command: &Command, place: &mut Place<'_>) {
    let words = own_words(command);
    if words.first().is_none_or(|word| word != "shift") {
        return;
    }
    match words.get(1).map(|count| count.parse::<usize>()) {
        None => place.shift = place.shift.saturating_add(1),
        Some(Ok(count)) => place.shift = place.shift.saturating_add(count),
        // `shift $((OPTIND - 1))`
        Some(Err(_)) if place.function.is_none() => place.shift = 0,
        Some(Err(_)) => place.is_loose = true,
    }
}

pub(super) fn is_position(name: &str) -> bool {
    name == ANY_WORD || name.bytes().all(|byte| byte.is_ascii_digit())
}
