//! Conversions between types. A value that does not fit is an error.

use crate::arithmetic::no_overload;
use crate::cost::Budget;
use crate::error::{Failure, short};
use crate::held::Held;
use crate::value::Value;
use crate::{Span, Timestamp};

type Converted<'a> = Result<Value<'a>, Failure>;

/// The longest text that is read as a number.
const LONGEST_NUMBER: usize = 400;

/// The smallest doubles beyond the integers.
const BEYOND_INT: f64 = 9_223_372_036_854_775_808.0;
const BEYOND_UINT: f64 = 18_446_744_073_709_551_616.0;

fn is_no(text: &str, wanted: &'static str) -> Failure {
    Failure::Conversion { text: short(text), wanted }
}

/// Reads a text, unless it is too long to be a number.
fn parsed<T: std::str::FromStr>(text: &str, wanted: &'static str) -> Result<T, Failure> {
    let text = Some(text).filter(|text| text.len() <= LONGEST_NUMBER && !text.starts_with('+')).ok_or(text);
    let text = text.map_err(|text| is_no(text, wanted))?;
    text.parse().map_err(|_| is_no(text, wanted))
}

pub(super) fn to_string<'a>(value: &Value<'a>, budget: &mut Budget) -> Converted<'a> {
    Ok(Value::text(match value {
        Value::String(_) => return Ok(value.clone()),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::Timestamp(time) => time.to_string(),
        Value::Duration(span) => span.to_string(),
        Value::Bytes(bytes) => {
            budget.spend_bytes(bytes.len())?;
            let text = std::str::from_utf8(bytes).map_err(|_| is_no("bytes", "text in UTF-8"))?;
            text.to_owned()
        }
        other => return Err(no_overload("string", std::slice::from_ref(other))),
    }))
}

#[expect(clippy::cast_possible_truncation, reason = "doubles out of range are refused")]
pub(super) fn to_int<'a>(value: &Value<'a>) -> Converted<'a> {
    let int = match value {
        Value::Int(value) => Some(*value),
        Value::Uint(value) => i64::try_from(*value).ok(),
        Value::Double(value) => (value.abs() < BEYOND_INT).then_some(*value as i64),
        Value::String(text) => Some(parsed(text, "int")?),
        Value::Timestamp(time) => Some(time.seconds),
        Value::Duration(span) => Some(span.seconds()),
        other => return Err(no_overload("int", std::slice::from_ref(other))),
    };
    int.map(Value::Int).ok_or(Failure::Overflow("int"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "doubles out of range are refused"
)]
pub(super) fn to_uint<'a>(value: &Value<'a>) -> Converted<'a> {
    let uint = match value {
        Value::Uint(value) => Some(*value),
        Value::Int(value) => u64::try_from(*value).ok(),
        Value::Double(value) => (*value >= 0.0 && *value < BEYOND_UINT).then_some(*value as u64),
        Value::String(text) => Some(parsed(text, "uint")?),
        other => return Err(no_overload("uint", std::slice::from_ref(other))),
    };
    uint.map(Value::Uint).ok_or(Failure::Overflow("uint"))
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what the language asks for")]
pub(super) fn to_double<'a>(value: &Value<'a>) -> Converted<'a> {
    Ok(Value::Double(match value {
        Value::Double(value) => *value,
        Value::Int(value) => *value as f64,
        Value::Uint(value) => *value as f64,
        Value::String(text) => parsed(text, "double")?,
        other => return Err(no_overload("double", std::slice::from_ref(other))),
    }))
}

pub(super) fn to_bytes<'a>(value: &Value<'a>, budget: &mut Budget) -> Converted<'a> {
    match value {
        Value::Bytes(_) => Ok(value.clone()),
        Value::String(text) => {
            budget.spend_bytes(text.len())?;
            Ok(Value::Bytes(match text {
                Held::Borrowed(text) => Held::Borrowed(text.as_bytes()),
                Held::Shared(text) => Held::Shared(text.as_bytes().into()),
            }))
        }
        other => Err(no_overload("bytes", std::slice::from_ref(other))),
    }
}

pub(super) fn to_bool<'a>(value: &Value<'a>) -> Converted<'a> {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match &**text {
            "true" | "True" | "TRUE" | "t" | "1" => Ok(Value::Bool(true)),
            "false" | "False" | "FALSE" | "f" | "0" => Ok(Value::Bool(false)),
            other => Err(is_no(other, "bool")),
        },
        other => Err(no_overload("bool", std::slice::from_ref(other))),
    }
}

pub(super) fn to_timestamp<'a>(value: &Value<'a>) -> Converted<'a> {
    let time = match value {
        Value::Timestamp(_) => return Ok(value.clone()),
        Value::String(text) => Timestamp::parse(text).ok_or_else(|| is_no(text, "timestamp")),
        Value::Int(seconds) => Timestamp::new(*seconds, 0).ok_or(Failure::Overflow("timestamp")),
        other => Err(no_overload("timestamp", std::slice::from_ref(other))),
    };
    time.map(Value::Timestamp)
}

pub(super) fn to_duration<'a>(value: &Value<'a>) -> Converted<'a> {
    match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::String(text) => Span::parse(text).map(Value::Duration).ok_or_else(|| is_no(text, "duration")),
        other => Err(no_overload("duration", std::slice::from_ref(other))),
    }
}
