//! Decimal numbers: compared by value as they were written. `1`, `1.0` and `10e-1` are equal, and no digit of a large
//! integer is lost.

use serde_json::Number;
use std::borrow::Cow;
use std::cmp::Ordering;
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

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// How a number compares with another one without regard to signs.
    fn cmp_size(&self, other: &Self) -> Ordering {
        let order = |number: &Self| number.exponent.saturating_add_unsigned(number.digits.len() as u64);
        match (self.is_zero(), other.is_zero()) {
            (false, false) => order(self).cmp(&order(other)).then_with(|| self.digits.cmp(&other.digits)),
            (own, others) => others.cmp(&own),
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_size(other),
            (true, true) => other.cmp_size(self),
            (own, others) => others.cmp(&own),
        }
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

/// How a number compares with the author's limit.
pub(crate) fn compare(text: &str, limit: &Number) -> Ordering {
    if limit.is_f64() {
        // The author's literal was rounded when the schema was read, so it is compared as rounded.
        let rounded = text.parse::<f64>().ok().zip(limit.as_f64());
        return rounded.and_then(|(one, other)| one.partial_cmp(&other)).unwrap_or(Ordering::Equal);
    }
    match (text.parse::<i64>().ok(), limit.as_i64()) {
        (Some(number), Some(limit)) => number.cmp(&limit),
        _ => Decimal::read(text).cmp(&Decimal::read(&limit.to_string())),
    }
}

/// Whether a number is a multiple of the author's, exactly and for any exponent.
pub(crate) fn is_multiple(text: &str, step: &Number) -> bool {
    if let (Ok(number), Some(step)) = (text.parse::<i64>(), step.as_i64()) {
        return number.checked_rem(step) == Some(0);
    }
    let step = step.to_string();
    let (number, step) = (Decimal::read(text), Decimal::read(&step));
    if number.is_zero() {
        return true;
    }
    // The digits of neither end with a zero, so powers of ten that the step has and the number lacks are missing.
    let (Ok(divisor), Ok(zeros)) =
        (step.digits.parse::<u64>(), u64::try_from(number.exponent.saturating_sub(step.exponent)))
    else {
        return false;
    };
    // Both factors are below 2^64, so that their product fits.
    let times = |one: u128, other: u128| one * other % u128::from(divisor);
    let digits = number.digits.bytes().map(|digit| u128::from(digit - b'0'));
    let rest = digits.fold(0, |rest, digit| (rest * 10 + digit) % u128::from(divisor));
    times(rest, power_of_ten(zeros, times)) == 0
}

/// Ten to the power `exponent` under a multiplication.
fn power_of_ten(mut exponent: u64, times: impl Fn(u128, u128) -> u128) -> u128 {
    let (mut power, mut square) = (times(1, 1), times(10, 1));
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = times(power, square);
        }
        square = times(square, square);
        exponent /= 2;
    }
    power
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
    fn numbers_are_compared_by_value() {
        let sorted =
            ["-1e400", "-12", "-1.5", "-1e-400", "0", "1e-400", "0.10", "0.11", "9", "10.0", "1e400"];
        for (place, one) in sorted.iter().enumerate() {
            for (other_place, other) in sorted.iter().enumerate() {
                let order = Decimal::read(one).cmp(&Decimal::read(other));
                assert_eq!(order, place.cmp(&other_place), "{one} {other}");
            }
        }
        let limit = |text: &str| text.parse::<Number>().unwrap();
        assert_eq!(compare("9007199254740993", &limit("9007199254740992")), Ordering::Greater);
        assert_eq!(compare("18446744073709551616", &limit("18446744073709551615")), Ordering::Greater);
        assert_eq!(
            compare("123456789012345678901234567890", &limit("123456789012345678901234567890")),
            Ordering::Equal
        );
    }

    #[test]
    fn multiples_are_exact() {
        let is = |text: &str, step: &str| is_multiple(text, &step.parse::<Number>().unwrap());
        for (text, step) in [
            ("19.99", "0.01"),
            ("4.35", "0.01"),
            ("0", "7"),
            ("-14", "7"),
            ("1e400", "1e300"),
            ("1e99999999999999999999", "4"),
            ("36893488147419103230", "18446744073709551615"),
            ("1.5e1", "5"),
        ] {
            assert!(is(text, step), "{text} {step}");
        }
        for (text, step) in [
            ("19.995", "0.01"),
            ("1e400", "3"),
            ("1e-400", "0.1"),
            ("9007199254740993", "2"),
            ("36893488147419103231", "18446744073709551615"),
        ] {
            assert!(!is(text, step), "{text} {step}");
        }
        // Only a schema that was never checked could have such a step.
        assert!(!is("1", "0"));
        assert!(!is("1.5", "0"));
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
