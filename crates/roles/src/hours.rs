//! Hours: when a role holds, by day and time of a time zone.

use jiff::Timestamp;
use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

/// Such as `Mon-Fri 08:00-18:00 Europe/Berlin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hours {
    text: String,
    /// The days, Monday first.
    days: [bool; 7],
    from: Time,
    /// The first moment that is too late. Before `from`, the hours go on after midnight.
    to: Time,
    zone: TimeZone,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoursError {
    #[error(
        "`{0}` are no hours; write `Mon-Fri 08:00-18:00 Europe/Berlin`, with days, times and a time zone"
    )]
    Form(String),
    #[error("`{0}` is no day; there are Mon, Tue, Wed, Thu, Fri, Sat and Sun")]
    Day(String),
    #[error("`{0}` is no time; write it as `08:00`")]
    Time(String),
    #[error("`{0}` is no time zone that this system knows; write `UTC` or a name such as `Europe/Berlin`")]
    Zone(String),
    #[error("hours that begin and end at `{0}` hold never; leave them out if the role always holds")]
    Empty(String),
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

impl Hours {
    pub fn hold(&self, at: SystemTime) -> bool {
        let Ok(at) = Timestamp::try_from(at) else { return false };
        let at = at.to_zoned(self.zone.clone());
        let is_day = |day: Weekday| self.days[usize::from(day.to_monday_zero_offset().unsigned_abs())];
        let (today, time) = (at.weekday(), at.time());
        if self.from < self.to {
            return is_day(today) && self.from <= time && time < self.to;
        }
        // After midnight, what counts is the day on which the hours began.
        (is_day(today) && self.from <= time) || (is_day(today.previous()) && time < self.to)
    }
}

impl FromStr for Hours {
    type Err = HoursError;

    fn from_str(text: &str) -> Result<Self, HoursError> {
        let shown = || text.escape_debug().to_string();
        let words: Vec<&str> = text.split_whitespace().collect();
        let [days, times, zone] = words[..] else { return Err(HoursError::Form(shown())) };
        let (from, to) = times.split_once('-').ok_or_else(|| HoursError::Form(shown()))?;
        // `00:00-24:00` is a whole day.
        if from == to {
            return Err(HoursError::Empty(from.escape_debug().to_string()));
        }
        let (from, to) = (parse_time(from)?, parse_time(to)?);
        let known = TimeZone::get(zone).map_err(|_| HoursError::Zone(zone.escape_debug().to_string()))?;
        Ok(Self { text: words.join(" "), days: parse_days(days)?, from, to, zone: known })
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Days and ranges of days, such as `Mon-Wed,Fri`.
fn parse_days(text: &str) -> Result<[bool; 7], HoursError> {
    let day = |name: &str| {
        let known = DAYS.iter().position(|known| name.eq_ignore_ascii_case(known));
        known.ok_or_else(|| HoursError::Day(name.escape_debug().to_string()))
    };
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (mut at, last) = (day(first)?, day(last)?);
        days[at] = true;
        while at != last {
            at = (at + 1) % 7;
            days[at] = true;
        }
    }
    Ok(days)
}

/// Two digits each. `24:00` is midnight.
fn parse_time(text: &str) -> Result<Time, HoursError> {
    let refused = || HoursError::Time(text.escape_debug().to_string());
    let (hour, minute) = text.split_once(':').ok_or_else(refused)?;
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<i8>().ok()).flatten().ok_or_else(refused)
    };
    let (hour, minute) = (number(hour)?, number(minute)?);
    let hour = if (hour, minute) == (24, 0) { 0 } else { hour };
    Time::new(hour, minute, 0, 0).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(hours: &str, at: &str) -> bool {
        let at: Timestamp = at.parse().unwrap();
        hours.parse::<Hours>().unwrap().hold(at.into())
    }

    #[test]
    fn hours_hold_by_day_and_time_of_their_zone() {
        // 2026-11-18 is a Wednesday.
        assert!(holds("Mon-Fri 08:00-18:00 UTC", "2026-11-18T08:00:00Z"));
        assert!(!holds("Mon-Fri 08:00-18:00 UTC", "2026-11-18T18:00:00Z"));
        assert!(!holds("Mon-Fri 08:00-18:00 UTC", "2026-11-21T12:00:00Z"), "a Saturday");
        assert!(holds("Sat-Mon 08:00-18:00 UTC", "2026-11-22T12:00:00Z"));
        assert!(holds("mon,WED 00:00-24:00 UTC", "2026-11-18T23:59:59Z"));
        // The night belongs to the day on which it began.
        assert!(holds("Wed 22:00-06:00 UTC", "2026-11-19T05:59:00Z"));
        assert!(!holds("Wed 22:00-06:00 UTC", "2026-11-18T05:59:00Z"));
    }

    #[test]
    fn summer_time_counts() {
        let Ok(_) = TimeZone::get("Europe/Berlin") else { return };
        let hours = "Mon-Sun 08:00-18:00 Europe/Berlin";
        assert!(holds(hours, "2026-07-01T06:00:00Z") && !holds(hours, "2026-07-01T16:00:00Z"));
        assert!(!holds(hours, "2026-12-01T06:00:00Z") && holds(hours, "2026-12-01T16:59:00Z"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (hours, words) in [
            ("", "are no hours"),
            ("08:00-18:00", "are no hours"),
            ("Mon 08:00-18:00", "are no hours"),
            ("Mon 08:00 UTC", "are no hours"),
            ("Fun 08:00-18:00 UTC", "`Fun` is no day"),
            ("Mon-\u{1b}[1m 08:00-18:00 UTC", r"\u{1b}[1m` is no day"),
            ("Mon 8:00-18:00 UTC", "`8:00` is no time"),
            ("Mon 08:00-25:00 UTC", "`25:00` is no time"),
            ("Mon 08:00-18:60 UTC", "`18:60` is no time"),
            ("Mon 08:00-18:00 Mars/Base", "`Mars/Base` is no time zone"),
            ("Mon 08:00-18:00 ../../etc/passwd", "is no time zone"),
            ("Mon 08:00-08:00 UTC", "hold never"),
        ] {
            let refused = hours.parse::<Hours>().unwrap_err().to_string();
            assert!(refused.contains(words) && !refused.contains('\u{1b}'), "{hours}: {refused}");
        }
    }
}
