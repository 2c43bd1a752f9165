//! UTC timestamps, as registries, cursors and logs write them, and as command lines give them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// The time in UTC, as `2026-01-31T12:34:56.789Z`.
pub fn now() -> String {
    let now = since_epoch(SystemTime::now());
    format!("{}.{:03}Z", seconds(now), now.subsec_millis())
}

/// A time with microseconds, as `2026-01-31T12:34:56.789012Z`.
pub fn precise(time: SystemTime) -> String {
    let time = since_epoch(time);
    format!("{}.{:06}Z", seconds(time), time.subsec_micros())
}

/// The time of a text: `2026-01-31`, which is its midnight, or `2026-01-31T12:34:56Z`, with or without seconds, a fraction
/// and `Z`. All times are UTC.
pub fn parse(text: &str) -> Option<SystemTime> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    let [year, month, day] = numbers(date, '-')?;
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] =
        numbers(whole, ':').or_else(|| numbers(whole, ':').map(|[hour, minute]| [hour, minute, 0]))?;
    let is_date = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_fraction =
        (1..=9).contains(&fraction.len()) && fraction.bytes().all(|digit| digit.is_ascii_digit());
    if !is_date || hour > 23 || minute > 59 || second > 60 || !is_fraction {
        return None;
    }
    let days = days(year, month, day);
    if civil(days) != (year, month, day) {
        return None;
    }
    let nanoseconds = format!("{fraction:0<9}").parse().ok()?;
    let seconds = days * DAY + hour * 3600 + minute * 60 + second;
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn seconds(time: Duration) -> String {
    let (days, second) = (time.as_secs() / DAY, time.as_secs() % DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Exactly `N` numbers with `between` them.
fn numbers<const N: usize>(text: &str, between: char) -> Option<[u64; N]> {
    let number = |part: &str| {
        let is_number = (1..=4).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| part.parse().ok()).flatten()
    };
    let found: Option<Vec<u64>> = text.split(between).map(number).collect();
    found?.try_into().ok()
}

/// Year, month and day of a day since 1970-01-01. Counts in eras of 400 years that start in March, so that the leap day
/// comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// The inverse: the day since 1970-01-01.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates_and_dates_days() {
        for (day, date) in
            [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (11_017, (2000, 3, 1)), (20_772, (2026, 11, 15))]
        {
            assert_eq!(civil(day), date);
            assert_eq!(days(date.0, date.1, date.2), day);
        }
        assert!((0..200_000).all(|day| {
            let (year, month, date) = civil(day);
            days(year, month, date) == day
        }));
    }

    #[test]
    fn a_time_that_was_written_is_read_again() {
        let time = UNIX_EPOCH + Duration::new(1_794_748_496, 789_012_000);
        assert_eq!(precise(time), "2026-11-15T13:14:56.789012Z");
        assert_eq!(parse(&precise(time)), Some(time));
        assert_eq!(parse("2026-11-15"), parse("2026-11-15T00:00:00.000Z"));
        assert_eq!(parse("2026-11-15 14:34"), parse("2026-11-15t14:34:00z"));
        assert!(parse(&now()).is_some());
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026",
            "2026-13-01",
            "2026-02-30",
            "1969-12-31",
            "2026-01-01T24:00",
            "2026-01-01T1",
            "2026-01-01T10:00:00.",
            "2026-01-01T10:00:00.1234567890",
            "+026-01-01",
            "2026-01-01T10:00:00+02:00",
            "20260-01-01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
