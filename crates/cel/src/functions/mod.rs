//! Functions on values.

mod conversions;
mod strings;
mod times;

use crate::arithmetic::no_overload;
use crate::cost::Budget;
use crate::error::{Failure, short};
use crate::pattern::Pattern;
use crate::tree::Function;
use crate::value::Value;
use crate::zone::Zone;
pub(crate) use times::time_part;

/// What compiling a pattern costs.
const COMPILING: usize = 5000;

pub(crate) fn call<'a>(
    function: Function,
    arguments: &[Value<'a>],
    budget: &mut Budget,
) -> Result<Value<'a>, Failure> {
    let Some((first, rest)) = arguments.split_first() else { return Ok(Value::Null) };
    match function {
        Function::Size => size(first, budget),
        Function::TypeOf => Ok(Value::Type(first.type_of())),
        Function::Dyn => Ok(first.clone()),
        Function::Matches => matches(arguments, budget),
        Function::ToString => conversions::to_string(first, budget),
        Function::ToInt => conversions::to_int(first),
        Function::ToUint => conversions::to_uint(first),
        Function::ToDouble => conversions::to_double(first),
        Function::ToBytes => conversions::to_bytes(first, budget),
        Function::ToBool => conversions::to_bool(first),
        Function::ToTimestamp => conversions::to_timestamp(first),
        Function::ToDuration => conversions::to_duration(first),
        Function::Time(part) => {
            let zone = match rest {
                [] => None,
                [Value::String(name)] => Some(Zone::fixed(name).ok_or_else(|| Failure::Zone(short(name)))?),
                _ => return Err(no_overload("time zone", rest)),
            };
            time_part(part, first, zone.as_ref())
        }
        _ => strings::call(function, arguments, budget),
    }
}

fn size<'a>(value: &Value<'a>, budget: &mut Budget) -> Result<Value<'a>, Failure> {
    let size = match value {
        Value::String(text) => {
            budget.spend_bytes(text.len())?;
            text.chars().count()
        }
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        other => return Err(no_overload("size", std::slice::from_ref(other))),
    };
    i64::try_from(size).map(Value::Int).map_err(|_| Failure::Overflow("size"))
}

/// `matches` with a pattern that is no literal.
fn matches<'a>(arguments: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, Failure> {
    let [Value::String(text), Value::String(pattern)] = arguments else {
        return Err(no_overload("matches", arguments));
    };
    budget.spend(COMPILING)?;
    let pattern = Pattern::compile_small(pattern).map_err(|error| Failure::Pattern(error.to_string()))?;
    budget.spend(pattern.cost(text))?;
    Ok(Value::Bool(pattern.is_match(text)))
}
