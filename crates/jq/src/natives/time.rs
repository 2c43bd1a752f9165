//! Date and time filters.

use jaq_core::native::bome;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::{Entry, NONE, ONE, of_input, of_one};
use crate::value::{Result, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("now", NONE, |_| bome(Ok(Timestamp::now().as_duration().as_secs_f64().into()))),
    ("mktime", NONE, |call| of_input(call, mktime)),
    ("gmtime", NONE, |call| of_input(call, |value| broken_down(value, "gmtime", TimeZone::UTC))),
    ("localtime", NONE, |call| of_input(call, |value| broken_down(value, "localtime", TimeZone::system()))),
    ("strftime", ONE, |call| of_one(call, |value, format| write(value, format, "strftime", &TimeZone::UTC))),
    ("strflocaltime", ONE, |call| {
        of_one(call, |value, format| write(value, format, "strflocaltime", &TimeZone::system()))
    }),
    ("strptime", ONE, |call| of_one(call, read)),
];

/// A moment, given in seconds since 1970.
#[expect(clippy::cast_possible_truncation, reason = "what is out of range is refused")]
fn moment(seconds: f64, zone: TimeZone) -> Result<Zoned> {
    let whole = Timestamp::from_second(seconds.floor() as i64);
    whole.map(|moment| moment.to_zoned(zone)).or_else(|error| {
        Value::fail(format!("error converting number of seconds since epoch to datetime: {error}"))
    })
}

fn broken_down(value: &Value, name: &str, zone: TimeZone) -> Result {
    let Some(seconds) = value.as_f64() else { return Value::fail(format!("{name}() requires a number")) };
    let time = moment(seconds, zone)?;
    let fraction = seconds - seconds.floor();
    Ok(parts(time.datetime(), fraction))
}

fn parts(time: DateTime, fraction: f64) -> Value {
    let parts = [
        f64::from(time.year()),
        f64::from(time.month()) - 1.0,
        f64::from(time.day()),
        f64::from(time.hour()),
        f64::from(time.minute()),
        f64::from(time.second()) + fraction,
        f64::from(time.weekday().to_sunday_zero_offset()),
        f64::from(time.day_of_year()) - 1.0,
    ];
    parts.into_iter().map(Value::from).collect()
}

/// The date and time of an array of numbers. Missing numbers at its end count as zero, and an excess of months, days or
/// minutes carries over into the next unit.
#[expect(clippy::cast_possible_truncation, reason = "what is out of range is refused")]
fn date_time(value: &Value, name: &str) -> Result<DateTime> {
    let Value::Array(items) = value else {
        return Value::fail(format!("{name} requires array of 6 numbers"));
    };
    let numbers: Option<Vec<f64>> = items.iter().map(Value::as_f64).collect();
    let Some(numbers) = numbers else {
        return Value::fail(format!("{name} requires parsed datetime inputs"));
    };
    let part = |at: usize| numbers.get(at).copied().unwrap_or(0.0) as i64;
    let made = || {
        let year = i16::try_from(part(0).checked_add(part(1).div_euclid(12))?).ok()?;
        let month = i8::try_from(part(1).rem_euclid(12)).ok()? + 1;
        let first = Date::new(year, month, 1).ok()?.to_datetime(Time::midnight());
        let days = part(2).checked_sub(1)?.checked_mul(24)?;
        let minutes = days.checked_add(part(3))?.checked_mul(60)?.checked_add(part(4))?;
        let seconds = minutes.checked_mul(60)?.checked_add(part(5))?;
        first.checked_add(SignedDuration::from_secs(seconds)).ok()
    };
    made().map_or_else(|| Value::fail("invalid gmtime representation"), Ok)
}

#[expect(clippy::cast_precision_loss, reason = "numbers are doubles, as in jq")]
fn mktime(value: &Value) -> Result {
    let time = date_time(value, "mktime")?.to_zoned(TimeZone::UTC);
    time.map(|time| Value::from(time.timestamp().as_second() as f64))
        .or_else(|_| Value::fail("invalid gmtime representation"))
}

fn write(value: &Value, format: &Value, name: &str, zone: &TimeZone) -> Result {
    let time = match value {
        Value::Number(number) => moment(number.value(), zone.clone())?,
        Value::Array(_) => {
            let time = date_time(value, &format!("{name}/1"))?.to_zoned(zone.clone());
            time.or_else(|error| Value::fail(error.to_string()))?
        }
        _ => return Value::fail(format!("{name}/1 requires parsed datetime inputs")),
    };
    let Value::String(format) = format else {
        return Value::fail(format!("{name}/1 requires a string format"));
    };
    strtime::format(format.as_bytes(), &time)
        .map(Value::from)
        .or_else(|error| Value::fail(format!("{name}/1: {error}")))
}

fn read(value: &Value, format: &Value) -> Result {
    let Value::String(text) = value else {
        return Value::fail(format!(
            "strptime/1 requires string inputs and arguments, not {}",
            value.described()
        ));
    };
    let Value::String(format) = format else {
        return Value::fail("strptime/1 requires string inputs and arguments");
    };
    let unmatched = || Value::fail(format!("date \"{text}\" does not match format \"{format}\""));
    let Ok(mut parsed) = BrokenDownTime::parse(format.as_bytes(), text.as_bytes()) else {
        return unmatched();
    };
    // Parts that the format does not mention are the first possible moment.
    if parsed.hour().is_none() {
        let _ = parsed.set_hour(Some(0));
    }
    let time = match parsed.timestamp() {
        Some(moment) => Ok(moment.to_zoned(TimeZone::UTC).datetime()),
        None => parsed.to_datetime(),
    };
    time.map(|time| parts(time, 0.0)).or_else(|_| unmatched())
}
