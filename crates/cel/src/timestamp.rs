//! Timestamps: points in time of the years 1 to 9999, with nanoseconds, as RFC 3339 writes them.

use crate::duration::Span;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

/// A date and a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: u32,
    /// From 1.
    pub(crate) day: u32,
    pub(crate) hour: u32,
    pub(crate) minute: u32,
    pub(crate) second: u32,
}

const DAY: i64 = 86_400;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

impl Timestamp {
    pub(crate) fn new(seconds: i64, nanos: u32) -> Option<Self> {
        (FIRST..=LAST).contains(&seconds).then_some(Self { seconds, nanos })
    }

    /// Reads a time such as `2026-02-03T04:05:06Z`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |from: usize, to: usize| -> Option<u32> {
            let digits = bytes.get(from..to)?;
            digits.iter().all(u8::is_ascii_digit).then_some(())?;
            text[from..to].parse().ok()
        };
        let is = |at: usize, letters: &[u8]| bytes.get(at).is_some_and(|byte| letters.contains(byte));
        if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt") && is(13, b":") && is(16, b":")) {
            return None;
        }
        let civil = Civil {
            year: number(0, 4)?.into(),
            month: number(5, 7)?,
            day: number(8, 10)?,
            hour: number(11, 13)?,
            minute: number(14, 16)?,
            second: number(17, 19)?,
        };
        let mut end = 19;
        let mut nanos = 0;
        if is(end, b".") {
            let digits = bytes[end + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !(1..=9).contains(&digits) {
                return None;
            }
            nanos = number(end + 1, end + 1 + digits)? * 10_u32.pow(9 - u32::try_from(digits).ok()?);
            end += 1 + digits;
        }
        let offset = match text.get(end..)? {
            "Z" | "z" => 0,
            zone => offset(zone)?,
        };
        Self::new(civil.seconds()?.checked_sub(offset)?, nanos)
    }

    /// The date and time in a zone that is this many seconds ahead of UTC.
    pub(crate) fn civil(self, offset: i64) -> Civil {
        let seconds = self.seconds.saturating_add(offset);
        let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        let part = |value: i64| u32::try_from(value).unwrap_or(0);
        Civil {
            year,
            month,
            day,
            hour: part(rest / 3600),
            minute: part(rest / 60 % 60),
            second: part(rest % 60),
        }
    }

    /// The number of days since 1970, in a zone that is this many seconds ahead of UTC.
    pub(crate) fn days(self, offset: i64) -> i64 {
        self.seconds.saturating_add(offset).div_euclid(DAY)
    }

    pub(crate) fn plus(self, span: Span) -> Option<Self> {
        let total = i128::from(self.seconds) * NANOS + i128::from(self.nanos) + span.nanos;
        Self::from_nanos(total)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Span> {
        let nanos = |time: Self| i128::from(time.seconds) * NANOS + i128::from(time.nanos);
        Span::new(nanos(self) - nanos(other))
    }

    fn from_nanos(total: i128) -> Option<Self> {
        let seconds = i64::try_from(total.div_euclid(NANOS)).ok()?;
        Self::new(seconds, u32::try_from(total.rem_euclid(NANOS)).ok()?)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(LAST).min(LAST);
        Self { seconds, nanos: since.subsec_nanos() }
    }
}

const NANOS: i128 = 1_000_000_000;

impl Civil {
    /// The seconds since 1970, if there is such a date.
    fn seconds(self) -> Option<i64> {
        let Self { year, month, day, hour, minute, second } = self;
        let days = days_of(year, month, day);
        let exists = (1..=12).contains(&month) && date_of(days) == (year, month, day);
        if !exists || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some(days * DAY + i64::from(hour * 3600 + minute * 60 + second))
    }

    /// The day of the year, from 0.
    pub(crate) fn day_of_year(self) -> i64 {
        days_of(self.year, self.month, self.day) - days_of(self.year, 1, 1)
    }
}

/// The seconds of an offset such as `+02:00`. The sign may be missing.
pub(crate) fn offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |digits: &str| -> Option<i64> {
        (digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

/// The number of days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March, so that the leap day is
/// the last one.
fn days_of(year: i64, month: u32, day: u32) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a number of days from 1970-01-01.
fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second } = self.civil(0);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}
