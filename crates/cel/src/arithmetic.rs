//! Arithmetic: operators on two values of one type, without conversion and without wrapping.

use crate::cost::Budget;
use crate::error::Failure;
use crate::held::Held;
use crate::tree::Operator;
use crate::value::{List, Value};
use crate::{Span, Timestamp};

type Computed<'a> = Result<Value<'a>, Failure>;

pub(crate) fn compute<'a>(
    operator: Operator,
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &mut Budget,
) -> Computed<'a> {
    let sign = operator.sign();
    let overflow = || Failure::Overflow(sign);
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => {
            let value = match operator {
                Operator::Add => a.checked_add(*b),
                Operator::Subtract => a.checked_sub(*b),
                Operator::Multiply => a.checked_mul(*b),
                _ if *b == 0 => return Err(Failure::DivisionByZero),
                Operator::Divide => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            value.map(Value::Int).ok_or_else(overflow)
        }
        (Value::Uint(a), Value::Uint(b)) => {
            let value = match operator {
                Operator::Add => a.checked_add(*b),
                Operator::Subtract => a.checked_sub(*b),
                Operator::Multiply => a.checked_mul(*b),
                _ if *b == 0 => return Err(Failure::DivisionByZero),
                Operator::Divide => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            value.map(Value::Uint).ok_or_else(overflow)
        }
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            _ => return Err(no_overload(sign, &[Value::Double(*a), Value::Double(*b)])),
        })),
        _ => match operator {
            Operator::Add => add(a, b, budget),
            Operator::Subtract => subtract(a, b),
            _ => Err(no_overload(sign, &[a.clone(), b.clone()])),
        },
    }
}

fn add<'a>(a: &Value<'a>, b: &Value<'a>, budget: &mut Budget) -> Computed<'a> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => {
            budget.spend_bytes(a.len() + b.len())?;
            Ok(Value::text([&**a, &**b].concat()))
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            budget.spend_bytes(a.len() + b.len())?;
            Ok(Value::Bytes(Held::Shared([&**a, &**b].concat().into())))
        }
        (Value::List(a), Value::List(b)) => {
            budget.spend_elements(a.len() + b.len())?;
            Ok(joined(a, b))
        }
        (Value::Timestamp(time), Value::Duration(span)) | (Value::Duration(span), Value::Timestamp(time)) => {
            moved(*time, span.nanos, "+")
        }
        (Value::Duration(a), Value::Duration(b)) => span(a.nanos + b.nanos, "+"),
        _ => Err(no_overload("+", &[a.clone(), b.clone()])),
    }
}

fn joined<'a>(a: &List<'a>, b: &List<'a>) -> Value<'a> {
    Value::list(a.iter().chain(b.iter()).collect())
}

fn subtract<'a>(a: &Value<'a>, b: &Value<'a>) -> Computed<'a> {
    match (a, b) {
        (Value::Timestamp(a), Value::Timestamp(b)) => {
            a.minus(*b).map(Value::Duration).ok_or(Failure::Overflow("-"))
        }
        (Value::Timestamp(time), Value::Duration(span)) => moved(*time, -span.nanos, "-"),
        (Value::Duration(a), Value::Duration(b)) => span(a.nanos - b.nanos, "-"),
        _ => Err(no_overload("-", &[a.clone(), b.clone()])),
    }
}

fn moved<'a>(time: Timestamp, nanos: i128, sign: &'static str) -> Computed<'a> {
    let moved = Span::new(nanos).and_then(|span| time.plus(span));
    moved.map(Value::Timestamp).ok_or(Failure::Overflow(sign))
}

fn span<'a>(nanos: i128, sign: &'static str) -> Computed<'a> {
    Span::new(nanos).map(Value::Duration).ok_or(Failure::Overflow(sign))
}

pub(crate) fn negate<'a>(value: &Value<'a>) -> Computed<'a> {
    match value {
        Value::Int(value) => value.checked_neg().map(Value::Int).ok_or(Failure::Overflow("-")),
        Value::Double(value) => Ok(Value::Double(-value)),
        other => Err(no_overload("-", std::slice::from_ref(other))),
    }
}

/// The error for an operation on values of types that it does not take.
pub(crate) fn no_overload(operation: &'static str, values: &[Value<'_>]) -> Failure {
    let types: Vec<String> = values.iter().map(|value| value.type_of().to_string()).collect();
    Failure::NoOverload { operation, types: types.join(" and ") }
}
