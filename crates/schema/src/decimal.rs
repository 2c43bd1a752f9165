//! Decimal numbers: compared by value as they were written. `1`, `1.0` and `10e-1` are equal, and no digit of a large
//! integer is lost.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// A number in canonical form: digits that neither start nor end with a zero, times a power of ten.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal<'t> {
    negative: bool,
    digits: Cow<'t, str>,
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// Reads a JSON number.
    pub(crate) fn read(text: &'t str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all =
            if fraction.is_empty() { Cow::Borrowed(whole) } else { Cow::Owned(format!("{whole}{fraction}")) };
        let zeros = all.len() - all.trim_end_matches('0').len();
        let digits = match all {
            Cow::Borrowed(all) => Cow::Borrowed(all.trim_matches('0')),
            Cow::Owned(all) => Cow::Owned(all.trim_matches('0').to_owned()),
        };
        let signed = |length: usize| i64::try_from(length).unwrap_or(i64::MAX / 2);
        let shift = signed(zeros) - signed(fraction.len());
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: 0 };
        }
        Self { negative, digits, exponent: power(exponent).saturating_add(shift) }
    }

    /// Whether there is nothing after the decimal point.
    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Appends a text that two numbers share exactly when they are equal.
    pub(crate) fn write_key(&self, key: &mut String) -> fmt::Result {
        key.push_str(if self.negative { "-" } else { "+" });
        key.push_str(&self.digits);
        if self.exponent == 0 { Ok(()) } else { write!(key, "e{}", self.exponent) }
    }
}

/// An exponent, which may be written with more digits than any integer type has.
fn power(text: &str) -> i64 {
    let beyond = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    // Half of the range leaves room for the shift of the decimal point.
    text.parse().unwrap_or(beyond).clamp(i64::MIN / 2, i64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_one_form() {
        for (one, other) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("1000", "1E+3"),
            ("-0", "0.000e9"),
            ("0.5", "5e-1"),
            ("100", "1e2"),
            ("-12.50", "-125e-1"),
        ] {
            assert_eq!(Decimal::read(one), Decimal::read(other), "{one} {other}");
        }
        assert_ne!(Decimal::read("123456789012345678901"), Decimal::read("123456789012345678902"));
        assert_ne!(Decimal::read("1"), Decimal::read("-1"));
        let mut key = String::new();
        Decimal::read("-12.50").write_key(&mut key).unwrap();
        assert_eq!(key, "-125e-1");
    }

    #[test]
    fn knows_integers() {
        for text in ["0", "-5", "5.0", "1e3", "1.5e1", "1e99999999999999999999", "0e-5"] {
            assert!(Decimal::read(text).is_integer(), "{text}");
        }
        for text in ["0.5", "1e-1", "-1.05e1", "1e-99999999999999999999"] {
            assert!(!Decimal::read(text).is_integer(), "{text}");
        }
    }
}
