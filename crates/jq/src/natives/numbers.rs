//! Number filters.

use jaq_core::native::bome;

use super::{Call, Entry, NONE, Results, THREE, TWO, of_input};
use crate::read;
use crate::value::{Result, Value};

/// A function of one number.
macro_rules! of_number {
    ($name:literal, $function:expr) => {
        ($name, NONE, |call| {
            of_input(call, |value| number(value).map(|number| Value::from($function(number))))
        })
    };
}

/// A function of two numbers, neither of which is the input.
macro_rules! of_numbers {
    ($name:literal, $function:expr) => {
        ($name, TWO, |mut call| {
            let right = call.0.pop_var();
            let left = call.0.pop_var();
            bome(number(&left).and_then(|left| Ok(Value::from($function(left, number(&right)?)))))
        })
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("tonumber", NONE, |call| of_input(call, to_number)),
    ("toboolean", NONE, |call| of_input(call, to_boolean)),
    ("infinite", NONE, |_| bome(Ok(f64::INFINITY.into()))),
    ("nan", NONE, |_| bome(Ok(f64::NAN.into()))),
    ("isinfinite", NONE, |call| of_input(call, |value| Ok(is(value, f64::is_infinite)))),
    ("isnan", NONE, |call| of_input(call, |value| Ok(is(value, f64::is_nan)))),
    ("isnormal", NONE, |call| of_input(call, |value| Ok(is(value, f64::is_normal)))),
    // A value that is not a number, but greater than any, passes unchanged.
    ("abs", NONE, |call| {
        of_input(call, |value| if *value < Value::from(0_usize) { -value.clone() } else { Ok(value.clone()) })
    }),
    of_number!("floor", f64::floor),
    of_number!("ceil", f64::ceil),
    of_number!("round", f64::round),
    of_number!("trunc", f64::trunc),
    of_number!("rint", f64::round_ties_even),
    of_number!("nearbyint", f64::round_ties_even),
    of_number!("sqrt", f64::sqrt),
    of_number!("cbrt", libm::cbrt),
    of_number!("fabs", f64::abs),
    of_number!("sin", libm::sin),
    of_number!("cos", libm::cos),
    of_number!("tan", libm::tan),
    of_number!("asin", libm::asin),
    of_number!("acos", libm::acos),
    of_number!("atan", libm::atan),
    of_number!("sinh", libm::sinh),
    of_number!("cosh", libm::cosh),
    of_number!("tanh", libm::tanh),
    of_number!("asinh", libm::asinh),
    of_number!("acosh", libm::acosh),
    of_number!("atanh", libm::atanh),
    of_number!("exp", libm::exp),
    of_number!("exp2", libm::exp2),
    of_number!("exp10", libm::exp10),
    of_number!("expm1", libm::expm1),
    of_number!("log", libm::log),
    of_number!("log2", libm::log2),
    of_number!("log10", libm::log10),
    of_number!("log1p", libm::log1p),
    of_number!("gamma", libm::lgamma),
    of_number!("lgamma", libm::lgamma),
    of_number!("lgamma_r", libm::lgamma),
    of_number!("tgamma", libm::tgamma),
    of_number!("logb", power_of_two),
    of_number!("significand", |number: f64| libm::frexp(number).0 * if number == 0.0 { 0.0 } else { 2.0 }),
    of_numbers!("pow", libm::pow),
    of_numbers!("atan2", libm::atan2),
    of_numbers!("fmin", f64::min),
    of_numbers!("fmax", f64::max),
    of_numbers!("fmod", libm::fmod),
    of_numbers!("copysign", f64::copysign),
    of_numbers!("hypot", libm::hypot),
    of_numbers!("drem", libm::remainder),
    of_numbers!("ldexp", scaled),
    of_numbers!("scalb", scaled),
    of_numbers!("scalbln", scaled),
    ("frexp", NONE, |call| {
        of_input(call, |value| {
            let (mantissa, exponent) = libm::frexp(number(value)?);
            Ok(Value::array(vec![mantissa.into(), f64::from(exponent).into()]))
        })
    }),
    ("modf", NONE, |call| {
        of_input(call, |value| {
            let (fraction, whole) = libm::modf(number(value)?);
            Ok(Value::array(vec![fraction.into(), whole.into()]))
        })
    }),
    ("fma", THREE, |mut call| {
        let (third, second, first) = (call.0.pop_var(), call.0.pop_var(), call.0.pop_var());
        bome(number(&first).and_then(|first| Ok(first.mul_add(number(&second)?, number(&third)?).into())))
    }),
];

pub(super) const GENERATORS: &[Entry] = &[("_range", TWO, range), ("_range", THREE, range_by)];

#[expect(clippy::cast_possible_truncation, reason = "an exponent beyond an integer is beyond a double, too")]
fn scaled(number: f64, exponent: f64) -> f64 {
    libm::ldexp(number, exponent as i32)
}

/// The power of two in a number, which zero and infinity do not have as an integer.
fn power_of_two(number: f64) -> f64 {
    match number {
        0.0 => f64::NEG_INFINITY,
        number if number.is_finite() => f64::from(libm::ilogb(number)),
        number => number.abs(),
    }
}

/// Whether a value is a number of some kind.
fn is(value: &Value, kind: fn(f64) -> bool) -> Value {
    value.as_f64().is_some_and(kind).into()
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().map_or_else(|| Value::fail(format!("{} number required", value.described())), Ok)
}

fn to_number(value: &Value) -> Result {
    let parsed = match value {
        Value::Number(_) => return Ok(value.clone()),
        Value::String(text) => read::number(text),
        _ => None,
    };
    parsed.map_or_else(
        || Value::fail(format!("{} cannot be parsed as a number", value.described())),
        |number| Ok(Value::Number(number)),
    )
}

fn to_boolean(value: &Value) -> Result {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) if &**text == "true" => Ok(true.into()),
        Value::String(text) if &**text == "false" => Ok(false.into()),
        _ => Value::fail(format!("{} cannot be parsed as a boolean", value.described())),
    }
}

fn range(mut call: Call<'_>) -> Results<'_> {
    let (to, from) = (call.0.pop_var(), call.0.pop_var());
    match (from.as_f64(), to.as_f64()) {
        (Some(from), Some(to)) => numbers(from, to, 1.0),
        _ => bome(Value::fail("Range bounds must be numeric")),
    }
}

/// Steps of any size. Values that are not numbers are added and compared as the operators do it.
fn range_by(mut call: Call<'_>) -> Results<'_> {
    let (by, to, from) = (call.0.pop_var(), call.0.pop_var(), call.0.pop_var());
    if let (Some(from), Some(to), Some(by)) = (from.as_f64(), to.as_f64(), by.as_f64()) {
        return numbers(from, to, by);
    }
    let direction = by.cmp(&Value::from(0_usize)).reverse();
    let mut next = Some(Ok(from));
    Box::new(std::iter::from_fn(move || match next.take()? {
        Ok(current) if direction.is_ne() && current.cmp(&to) == direction => {
            next = Some(current.clone() + by.clone());
            Some(Ok(current))
        }
        Ok(_) => None,
        Err(error) => Some(Err(error.into())),
    }))
}

/// From one number towards another, which is not reached. With a step of zero there are no results.
fn numbers<'a>(from: f64, to: f64, by: f64) -> Results<'a> {
    let mut next = from;
    Box::new(std::iter::from_fn(move || {
        let inside = if by > 0.0 { next < to } else { by != 0.0 && next > to };
        let current = next;
        next += by;
        inside.then(|| Ok(Value::from(current)))
    }))
}
