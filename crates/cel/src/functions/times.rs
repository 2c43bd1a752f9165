//! Parts of a time in a zone, and of a duration.

use crate::arithmetic::no_overload;
use crate::error::Failure;
use crate::tree::TimePart;
use crate::value::Value;
use crate::zone::Zone;

pub(crate) fn time_part<'a>(
    part: TimePart,
    of: &Value<'a>,
    zone: Option<&Zone>,
) -> Result<Value<'a>, Failure> {
    let refused = || no_overload("part of a time", std::slice::from_ref(of));
    let value = match (of, zone) {
        (Value::Timestamp(time), zone) => {
            let offset = zone.map_or(0, |zone| zone.offset(*time));
            let civil = time.civil(offset);
            match part {
                TimePart::FullYear => civil.year,
                TimePart::Month => i64::from(civil.month) - 1,
                TimePart::DayOfMonth => i64::from(civil.day) - 1,
                TimePart::Date => civil.day.into(),
                // 1970 began on a Thursday; Sunday is 0.
                TimePart::DayOfWeek => (time.days(offset) + 4).rem_euclid(7),
                TimePart::DayOfYear => civil.day_of_year(),
                TimePart::Hours => civil.hour.into(),
                TimePart::Minutes => civil.minute.into(),
                TimePart::Seconds => civil.second.into(),
                TimePart::Milliseconds => (time.nanos / 1_000_000).into(),
            }
        }
        (Value::Duration(span), None) => match part {
            TimePart::Hours => span.seconds() / 3600,
            TimePart::Minutes => span.seconds() / 60,
            TimePart::Seconds => span.seconds(),
            TimePart::Milliseconds => span.millis_part(),
            _ => return Err(refused()),
        },
        _ => return Err(refused()),
    };
    Ok(Value::Int(value))
}
