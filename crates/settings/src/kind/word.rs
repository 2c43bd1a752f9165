//! Word settings: one of several words.

use super::{Kind, Refusal};
use crate::problem::excerpt;
use std::borrow::Cow;

/// A word and its meaning.
pub(crate) type Meaning<V> = (&'static str, V);

pub(crate) struct Word<V: 'static> {
    /// The documented words.
    pub(crate) words: &'static [Meaning<V>],
    /// Other words that are accepted.
    pub(crate) synonyms: &'static [Meaning<V>],
    /// The value for an unknown word, if the default would be unsafe.
    pub(crate) instead: Option<Meaning<V>>,
}

impl<V> Word<V> {
    fn find(&self, text: &str) -> Option<&Meaning<V>> {
        self.words.iter().chain(self.synonyms).find(|(word, _)| text.eq_ignore_ascii_case(word))
    }

    /// The words with `or` before the last.
    fn alternatives(&self) -> String {
        let quoted: Vec<String> = self.words.iter().map(|(word, _)| format!("`{word}`")).collect();
        match quoted.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => quoted.concat(),
        }
    }
}

impl<V: Copy + PartialEq + Sync> Kind for Word<V> {
    type Value = V;

    fn description(&self) -> Cow<'static, str> {
        self.alternatives().into()
    }

    fn parse(&self, text: &str) -> Result<V, Refusal<V>> {
        if let Some((_, value)) = self.find(text) {
            return Ok(*value);
        }
        let problem = format!("must be {}, not `{}`", self.alternatives(), excerpt(text));
        Err(match self.instead {
            Some((word, value)) => Refusal::instead(format!("{problem}; `{word}` is used"), value, word),
            None => Refusal::default_stands(problem),
        })
    }

    fn shown(&self, text: &str) -> String {
        let meant = self.find(text).map(|(_, value)| value);
        let word = self.words.iter().find(|(_, value)| Some(value) == meant);
        word.map_or_else(String::new, |(word, _)| (*word).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Word<u8> =
        Word { words: &[("small", 1), ("medium", 2), ("large", 3)], synonyms: &[("big", 3)], instead: None };

    #[test]
    fn words_and_synonyms_are_understood_in_any_case_and_shown_as_the_word() {
        assert_eq!(SIZE.parse("Medium"), Ok(2));
        assert_eq!((SIZE.parse("BIG"), SIZE.shown("BIG").as_str()), (Ok(3), "large"));
        assert_eq!(SIZE.description(), "`small`, `medium` or `large`");
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["huge", "", "small large", "smаll", "small\u{0}"] {
            let refusal = SIZE.parse(text).unwrap_err();
            assert!(
                refusal.problem.starts_with("must be `small`, `medium` or `large`, not `"),
                "{refusal:?}"
            );
            assert_eq!((refusal.instead, refusal.fatal), (None, false));
        }
    }

    #[test]
    fn what_stands_in_place_of_another_word_is_said() {
        let strict = Word { instead: Some(("small", 1)), ..SIZE };
        let refusal = strict.parse("huge").unwrap_err();
        assert_eq!(refusal.instead, Some((1, "small")));
        assert_eq!(refusal.problem, "must be `small`, `medium` or `large`, not `huge`; `small` is used");
    }
}
