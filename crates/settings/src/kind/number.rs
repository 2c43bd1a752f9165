//! Number settings: whole numbers within a range, as counts, bytes, seconds or rates a minute.

use super::{Kind, Refusal};
use crate::problem::excerpt;
use std::borrow::Cow;
use std::time::Duration;

/// The upper bound of a setting without a bound of its own.
pub(crate) const LARGEST: u64 = 1 << 40;

pub(crate) const YEAR: u64 = 365 * 24 * 3600;

pub(crate) struct Number<V> {
    least: u64,
    most: u64,
    /// Whether a larger value counts as the largest. Otherwise it is refused.
    capped: bool,
    unit: &'static str,
    /// How a bound is written in the reference.
    write_bound: fn(u64) -> String,
    value: fn(u64) -> V,
}

pub(crate) type Count = Number<usize>;
pub(crate) type Bytes = Number<usize>;
pub(crate) type Seconds = Number<Duration>;
pub(crate) type PerMinute = Number<u32>;

pub(crate) const fn count(least: u64) -> Count {
    Number { least, most: LARGEST, capped: false, unit: "number", write_bound: plain, value: to_usize }
}

pub(crate) const fn bytes(least: u64, most: u64) -> Bytes {
    Number { least, most, capped: false, unit: "bytes", write_bound: in_binary_units, value: to_usize }
}

pub(crate) const fn kilobytes(least: u64, most: u64) -> Count {
    Number { least, most, capped: false, unit: "KB", write_bound: plain, value: to_usize }
}

pub(crate) const fn seconds(least: u64, most: u64) -> Seconds {
    Number { least, most, capped: false, unit: "seconds", write_bound: plain, value: Duration::from_secs }
}

pub(crate) const fn per_minute() -> PerMinute {
    let most = u32::MAX as u64;
    Number { least: 0, most, capped: false, unit: "number a minute", write_bound: plain, value: to_u32 }
}

impl<V> Number<V> {
    /// A larger value counts as the largest.
    pub(crate) const fn capped(self) -> Self {
        Self { capped: true, ..self }
    }

    fn number(&self, text: &str) -> Option<u64> {
        let number = text.parse().ok()?;
        if self.capped && number > self.most {
            return Some(self.most);
        }
        (self.least..=self.most).contains(&number).then_some(number)
    }
}

impl<V: 'static> Kind for Number<V> {
    type Value = V;

    fn description(&self) -> Cow<'static, str> {
        let [least, most] = [self.least, self.most].map(self.write_bound);
        let beyond = if self.capped { format!("; more counts as {most}") } else { String::new() };
        format!("{}, {least} to {most}{beyond}", self.unit).into()
    }

    fn parse(&self, text: &str) -> Result<V, Refusal<V>> {
        self.number(text).map(self.value).ok_or_else(|| {
            let range = format!("must be a whole number from {} to {}", self.least, self.most);
            Refusal::default_stands(format!("{range}, not `{}`", excerpt(text)))
        })
    }

    fn shown(&self, text: &str) -> String {
        self.number(text).map_or_else(String::new, |number| number.to_string())
    }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn to_u32(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn plain(number: u64) -> String {
    number.to_string()
}

/// `20 MiB` rather than `20971520`, if that is exact.
fn in_binary_units(number: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(size, _)| number >= *size && number.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{} {unit}", number / size),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_part_of_the_range() {
        let kind = seconds(1, 600);
        assert_eq!(kind.parse("1"), Ok(Duration::from_secs(1)));
        assert_eq!(kind.parse("0600"), Ok(Duration::from_secs(600)));
        for text in ["0", "601", "-1", "1.5", "1e2", "5s", "5 5", "0x10", "٣", "", "18446744073709551616"] {
            let refusal = kind.parse(text).unwrap_err();
            let problem = format!("must be a whole number from 1 to 600, not `{text}`");
            assert_eq!(refusal, Refusal::default_stands(problem));
        }
    }

    #[test]
    fn more_than_the_most_counts_as_the_most_where_the_kind_is_capped() {
        let kind = bytes(1, 20 << 20).capped();
        assert_eq!(kind.parse("999999999999999"), Ok(20 << 20));
        assert_eq!(kind.shown("999999999999999"), "20971520");
        assert_eq!(kind.shown("0012"), "12");
        for text in ["0", "-1", "999999999999999999999999"] {
            assert!(kind.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_reference_names_unit_and_range() {
        assert_eq!(count(4).description(), "number, 4 to 1099511627776");
        assert_eq!(bytes(1024, LARGEST).description(), "bytes, 1 KiB to 1 TiB");
        assert_eq!(bytes(0, 131_000).capped().description(), "bytes, 0 to 131000; more counts as 131000");
        assert_eq!(seconds(1, YEAR).description(), "seconds, 1 to 31536000");
        assert_eq!(per_minute().description(), "number a minute, 0 to 4294967295");
    }

    #[test]
    fn a_rate_fits_its_type() {
        assert_eq!(per_minute().parse("4294967295"), Ok(u32::MAX));
        assert!(per_minute().parse("4294967296").is_err());
    }
}
