//! Optional settings: they may be left unset.

use super::{Kind, Refusal};
use std::borrow::Cow;
use std::ffi::OsStr;

/// A value of another kind, or none.
pub(crate) struct Optional<K>(pub(crate) K);

impl<K: Kind> Kind for Optional<K> {
    type Value = Option<K::Value>;

    fn description(&self) -> Cow<'static, str> {
        self.0.description()
    }

    fn parse(&self, text: &str) -> Result<Self::Value, Refusal<Self::Value>> {
        if text.is_empty() {
            return Ok(None);
        }
        self.0.parse(text).map(Some).map_err(|refusal| refusal.map(Some))
    }

    fn parse_variable(&self, given: &OsStr) -> Option<Result<Self::Value, Refusal<Self::Value>>> {
        let value = self.0.parse_variable(given)?;
        Some(value.map(Some).map_err(|refusal| refusal.map(Some)))
    }

    fn shown(&self, text: &str) -> String {
        if text.is_empty() { String::new() } else { self.0.shown(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Folder, Names, Secret};
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn nothing_is_no_value_and_a_list_of_nothing_is_one() {
        assert_eq!(Optional(Names).parse(""), Ok(None));
        assert!(Optional(Names).parse_variable(OsStr::new("  ")).is_none());
        assert_eq!(Optional(Names).parse(","), Ok(Some(vec![])));
    }

    #[test]
    fn it_refuses_and_shows_as_the_other_kind_does() {
        let secret = Optional(Secret { least_characters: 3 });
        assert_eq!((secret.shown(""), secret.shown("abc")), (String::new(), "(not shown)".to_owned()));
        let refusal = secret.parse("ab").unwrap_err();
        assert_eq!((refusal.instead, refusal.fatal), (Some((Some("ab".to_owned()), "(not shown)")), true));
        let given = OsStr::from_bytes(b"\xff");
        assert_eq!(Optional(Folder).parse_variable(given).unwrap().unwrap().unwrap().as_os_str(), given);
    }
}
