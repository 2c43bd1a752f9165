//! Durations: signed lengths of time, written as `1h30m`, `-2.5s` or `100ms`.

use std::fmt;

/// A length of time of at most about 10,000 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub(crate) nanos: i128,
}

const SECOND: i128 = 1_000_000_000;
const LONGEST: i128 = 315_576_000_000 * SECOND;

const UNITS: [(&str, i128); 7] = [
    ("ns", 1),
    ("us", 1000),
    ("µs", 1000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];

impl Span {
    pub(crate) fn new(nanos: i128) -> Option<Self> {
        (-LONGEST..=LONGEST).contains(&nanos).then_some(Self { nanos })
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        /// A longer text is out of range, or has needless zeros.
        const LONGEST_TEXT: usize = 64;
        if text.len() > LONGEST_TEXT {
            return None;
        }
        let (sign, mut rest) = match text.as_bytes().first()? {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        if rest == "0" {
            return Self::new(0);
        }
        if rest.is_empty() {
            return None;
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (number, after) = rest.split_at(end);
            let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
            let (unit, after) = after.split_at(letters);
            let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
            total = total.checked_add(part(number, *unit)?)?;
            rest = after;
        }
        Self::new(sign * total)
    }

    pub(crate) fn seconds(self) -> i64 {
        i64::try_from(self.nanos / SECOND).unwrap_or(0)
    }

    /// The milliseconds of its last second.
    pub(crate) fn millis_part(self) -> i64 {
        i64::try_from(self.nanos % SECOND / 1_000_000).unwrap_or(0)
    }
}

/// The nanoseconds of a number such as `1.5` of a unit.
fn part(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = |text: &str| -> Option<i128> { if text.is_empty() { Some(0) } else { text.parse().ok() } };
    // Digits beyond the nanoseconds of the largest unit do not count.
    let fraction = fraction.get(..fraction.len().min(15))?;
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction = digits(fraction)?.checked_mul(unit)? / scale;
    digits(whole)?.checked_mul(unit)?.checked_add(fraction)
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, nanos) = (if self.nanos < 0 { "-" } else { "" }, self.nanos.unsigned_abs());
        let second = SECOND.unsigned_abs();
        write!(f, "{sign}{}", nanos / second)?;
        if nanos % second > 0 {
            let digits = format!("{:09}", nanos % second);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("s")
    }
}
