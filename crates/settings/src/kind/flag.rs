//! Flag setting: on or off.

use super::{Kind, Refusal};
use crate::problem::excerpt;
use std::borrow::Cow;

pub(crate) struct Flag;

impl Kind for Flag {
    type Value = bool;

    fn description(&self) -> Cow<'static, str> {
        "`true` or `false`".into()
    }

    fn parse(&self, text: &str) -> Result<bool, Refusal<bool>> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => {
                let problem = format!("must be `true` or `false`, not `{}`", excerpt(text));
                Err(Refusal::default_stands(problem))
            }
        }
    }

    fn shown(&self, text: &str) -> String {
        self.parse(text).is_ok_and(|on| on).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_words_are_understood_in_any_case() {
        for (text, on) in
            [("true", true), ("1", true), ("YES", true), ("on", true), ("Off", false), ("0", false)]
        {
            assert_eq!(Flag.parse(text), Ok(on), "{text}");
            assert_eq!(Flag.shown(text), on.to_string(), "{text}");
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["perhaps", "2", "true false", "truе", "", "\u{0}"] {
            let refusal = Flag.parse(text).unwrap_err();
            assert!(refusal.problem.starts_with("must be `true` or `false`, not `"), "{refusal:?}");
            assert_eq!((refusal.instead, refusal.fatal), (None, false));
        }
    }
}
