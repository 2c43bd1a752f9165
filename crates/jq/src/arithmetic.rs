//! Arithmetic operators: `+ - * / %` and negation.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

use crate::value::{Object, Result, Value};

/// The longest string that a repetition makes.
const MAX_REPEATED: usize = 1 << 30;

impl Add for Value {
    type Output = Result;

    fn add(self, other: Self) -> Result {
        match (self, other) {
            (Self::Null, value) | (value, Self::Null) => Ok(value),
            (Self::Number(left), Self::Number(right)) => Ok(Self::from(left.value() + right.value())),
            (Self::String(left), Self::String(right)) => Ok(Self::string(format!("{left}{right}"))),
            (Self::Array(mut left), Self::Array(right)) => {
                Rc::make_mut(&mut left).extend(right.iter().cloned());
                Ok(Self::Array(left))
            }
            (Self::Object(mut left), Self::Object(right)) => {
                let members = Rc::make_mut(&mut left);
                for (key, value) in right.iter() {
                    members.insert(key.clone(), value.clone());
                }
                Ok(Self::Object(left))
            }
            (left, right) => refuse(&left, &right, "added"),
        }
    }
}

impl Sub for Value {
    type Output = Result;

    fn sub(self, other: Self) -> Result {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => Ok(Self::from(left.value() - right.value())),
            (Self::Array(left), Self::Array(right)) => {
                Ok(left.iter().filter(|item| !right.contains(item)).cloned().collect())
            }
            (left, right) => refuse(&left, &right, "subtracted"),
        }
    }
}

impl Mul for Value {
    type Output = Result;

    fn mul(self, other: Self) -> Result {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => Ok(Self::from(left.value() * right.value())),
            (Self::String(text), Self::Number(count)) | (Self::Number(count), Self::String(text)) => {
                repeat(&text, count.value())
            }
            (Self::Object(left), Self::Object(right)) => merge(left, &right, 0).map(Self::Object),
            (left, right) => refuse(&left, &right, "multiplied"),
        }
    }
}

impl Div for Value {
    type Output = Result;

    fn div(self, other: Self) -> Result {
        match (&self, &other) {
            (Self::Number(_), Self::Number(right)) if right.value() == 0.0 => {
                refuse(&self, &other, "divided because the divisor is zero")
            }
            (Self::Number(left), Self::Number(right)) => Ok(Self::from(left.value() / right.value())),
            (Self::String(text), Self::String(separator)) => Ok(split(text, separator)),
            _ => refuse(&self, &other, "divided"),
        }
    }
}

impl Rem for Value {
    type Output = Result;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "jq calculates with integers"
    )]
    fn rem(self, other: Self) -> Result {
        let (Self::Number(left), Self::Number(right)) = (&self, &other) else {
            return refuse(&self, &other, "divided (remainder)");
        };
        if left.value().is_nan() || right.value().is_nan() {
            return Ok(Self::from(f64::NAN));
        }
        let (dividend, divisor) = (left.value() as i64, (right.value() as i64).unsigned_abs());
        if divisor == 0 {
            return refuse(&self, &other, "divided (remainder) because the divisor is zero");
        }
        let remainder = (dividend.unsigned_abs() % divisor) as f64;
        Ok(Self::from(if dividend < 0 && remainder != 0.0 { -remainder } else { remainder }))
    }
}

impl Neg for Value {
    type Output = Result;

    fn neg(self) -> Result {
        match &self {
            Self::Number(number) => Ok(Self::Number(number.negated())),
            _ => Self::fail(format!("{} cannot be negated", self.described())),
        }
    }
}

fn refuse(left: &Value, right: &Value, what: &str) -> Result {
    Value::fail(format!("{} and {} cannot be {what}", left.described(), right.described()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the count is checked first")]
fn repeat(text: &str, count: f64) -> Result {
    if count.is_nan() || count < 0.0 {
        return Ok(Value::Null);
    }
    match (count as usize).checked_mul(text.len()) {
        Some(length) if length < MAX_REPEATED => Ok(Value::string(text.repeat(length / text.len().max(1)))),
        _ => Value::fail("Repeat string result too long"),
    }
}

/// How deep merged objects may be nested.
const MAX_MERGED: usize = 10_000;

/// Merges two objects, and the objects inside them that have the same name.
fn merge(mut left: Rc<Object>, right: &Object, depth: usize) -> Result<Rc<Object>> {
    if depth > MAX_MERGED {
        return Value::fail("Object merge too deep");
    }
    let members = Rc::make_mut(&mut left);
    for (key, value) in right {
        let merged = match (members.get_mut(key).map(std::mem::take), value) {
            (Some(Value::Object(old)), Value::Object(new)) => Value::Object(merge(old, new, depth + 1)?),
            _ => value.clone(),
        };
        members.insert(key.clone(), merged);
    }
    Ok(left)
}

/// Splits a string at each separator; an empty separator splits between all characters.
pub(crate) fn split(text: &str, separator: &str) -> Value {
    if text.is_empty() {
        return Value::array(Vec::new());
    }
    if separator.is_empty() {
        return text.chars().map(|char| Value::from(char.to_string())).collect();
    }
    text.split(separator).map(Value::string).collect()
}
