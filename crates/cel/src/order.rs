//! Equality and order. Numbers of different types are compared by their value; other values of different types are not
//! equal, and have no order.

use crate::cost::Budget;
use crate::error::Failure;
use crate::value::{Map, Value};
use std::cmp::Ordering;

type Verdict = Result<bool, Failure>;

pub(crate) fn equal(a: &Value<'_>, b: &Value<'_>, budget: &mut Budget) -> Verdict {
    budget.spend(1)?;
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => {
            budget.spend_bytes(a.len().min(b.len()))?;
            **a == **b
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            budget.spend_bytes(a.len().min(b.len()))?;
            **a == **b
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(&a, &b, budget)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(a), Value::Map(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (key, value) in a.entries() {
                match lookup(b, &key, budget)? {
                    Some(other) if equal(&value, &other, budget)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        _ => numbers(a, b) == Order::Known(Ordering::Equal),
    })
}

/// The order of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Known(Ordering),
    /// One of two numbers is NaN.
    NotANumber,
    /// Values of these types have no order.
    None,
}

/// Compares two values.
pub(crate) fn compare(a: &Value<'_>, b: &Value<'_>, budget: &mut Budget) -> Result<Order, Failure> {
    let ordering = match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => {
            budget.spend_bytes(a.len().min(b.len()))?;
            (**a).cmp(&**b)
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            budget.spend_bytes(a.len().min(b.len()))?;
            (**a).cmp(&**b)
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        _ => return Ok(numbers(a, b)),
    };
    Ok(Order::Known(ordering))
}

/// The value of a key. The key of a map that an expression made may be a number of another type.
pub(crate) fn lookup<'a>(
    map: &Map<'a>,
    key: &Value<'_>,
    budget: &mut Budget,
) -> Result<Option<Value<'a>>, Failure> {
    match map {
        Map::Json(members) => {
            let Value::String(key) = key else { return Ok(None) };
            budget.spend(1)?;
            budget.spend_bytes(key.len())?;
            Ok(members.get(&**key).map(Value::from))
        }
        Map::Made(entries) => {
            for (known, value) in entries.iter() {
                if equal(known, key, budget)? {
                    return Ok(Some(value.clone()));
                }
            }
            Ok(None)
        }
    }
}

/// The order of two numbers by value.
fn numbers(a: &Value<'_>, b: &Value<'_>) -> Order {
    let integer = |value: &Value<'_>| match value {
        Value::Int(value) => Some(i128::from(*value)),
        Value::Uint(value) => Some(i128::from(*value)),
        _ => None,
    };
    let order = match (a, b, integer(a), integer(b)) {
        (Value::Double(a), Value::Double(b), ..) => a.partial_cmp(b),
        (Value::Double(a), _, _, Some(b)) => with_double(b, *a).map(Ordering::reverse),
        (_, Value::Double(b), Some(a), _) => with_double(a, *b),
        (_, _, Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => return Order::None,
    };
    order.map_or(Order::NotANumber, Order::Known)
}

/// Compares without rounding the integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "doubles beyond the integers of 64 bits are sorted out first"
)]
fn with_double(integer: i128, double: f64) -> Option<Ordering> {
    const BEYOND: f64 = 1e20;
    if double.is_nan() {
        return None;
    }
    if double.abs() > BEYOND {
        return Some(if double > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = double.trunc() as i128;
    Some(integer.cmp(&whole).then_with(|| 0.0.partial_cmp(&double.fract()).unwrap_or(Ordering::Equal)))
}
