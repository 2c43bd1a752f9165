//! Secret value: bytes that are never printed, and are zeroed when they are dropped.

use std::fmt;
use thiserror::Error;
use zeroize::Zeroizing;

/// The shortest secret, in bytes. Shorter text occurs by chance, and cannot be taken out of other text.
pub const SHORTEST: usize = 8;

/// The longest secret, in bytes.
pub const LONGEST: usize = 64 * 1024;

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

/// Why a value is no secret. The words never contain any of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unfit {
    #[error("it is empty")]
    Empty,
    #[error(
        "it has {0} bytes, and a secret needs at least {SHORTEST}: text as short as that cannot be taken out of results"
    )]
    TooShort(usize),
    #[error("it has more than {LONGEST} bytes")]
    TooLong,
    #[error("it contains a NUL byte, which no variable can hold")]
    Nul,
}

impl Secret {
    /// Takes a value as it was read. One final line break is not part of it.
    pub fn new(value: Vec<u8>) -> Result<Self, Unfit> {
        let mut value = Zeroizing::new(value);
        if value.last() == Some(&b'\n') {
            value.pop();
            if value.last() == Some(&b'\r') {
                value.pop();
            }
        }
        // Line breaks are ignored where a secret is looked for.
        let significant = value.trim_ascii().iter().filter(|byte| !matches!(byte, b'\r' | b'\n')).count();
        match () {
            () if significant == 0 => Err(Unfit::Empty),
            () if significant < SHORTEST => Err(Unfit::TooShort(significant)),
            () if value.len() > LONGEST => Err(Unfit::TooLong),
            () if memchr::memchr(0, &value).is_some() => Err(Unfit::Nul),
            () => Ok(Self(value)),
        }
    }

    /// The value, for the script that it is meant for.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_without_its_last_line_break() {
        for text in ["12345678", "12345678\n", "12345678\r\n"] {
            assert_eq!(Secret::new(text.into()).unwrap().reveal(), b"12345678");
        }
        assert_eq!(Secret::new(b"one two\n\n".into()).unwrap_err(), Unfit::TooShort(7));
        assert_eq!(Secret::new(b"a line\nanother\n".into()).unwrap().reveal(), b"a line\nanother");
    }

    #[test]
    fn values_that_could_not_be_hidden_or_passed_on_are_refused() {
        assert_eq!(Secret::new(Vec::new()).unwrap_err(), Unfit::Empty);
        assert_eq!(Secret::new(b" \n \n".into()).unwrap_err(), Unfit::Empty);
        assert_eq!(Secret::new(b"   short   ".into()).unwrap_err(), Unfit::TooShort(5));
        assert_eq!(Secret::new(vec![b'x'; LONGEST + 1]).unwrap_err(), Unfit::TooLong);
        assert_eq!(Secret::new(b"a\nb\nc\nd\ne\nf".into()).unwrap_err(), Unfit::TooShort(6));
        assert_eq!(Secret::new(b"12345678\x009".into()).unwrap_err(), Unfit::Nul);
    }

    #[test]
    fn no_value_is_printed() {
        let secret = Secret::new(b"hunter2hunter2".into()).unwrap();
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "*** Some(***)");
    }
}
