//! Functions on strings. Positions count characters.

use crate::arithmetic::no_overload;
use crate::cost::Budget;
use crate::error::Failure;
use crate::tree::Function;
use crate::value::Value;

type Computed<'a> = Result<Value<'a>, Failure>;

pub(super) fn call<'a>(function: Function, arguments: &[Value<'a>], budget: &mut Budget) -> Computed<'a> {
    if let (Function::Join, [Value::List(list), rest @ ..]) = (function, arguments) {
        let separator = match rest {
            [] => "",
            [Value::String(separator)] => separator,
            _ => return Err(no_overload("join", arguments)),
        };
        return join(list, separator, budget);
    }
    let Some(Value::String(text)) = arguments.first() else {
        return Err(no_overload(name(function), arguments));
    };
    let text: &str = text;
    budget.spend_bytes(text.len())?;
    match (function, &arguments[1..]) {
        (Function::Contains, [Value::String(part)]) => {
            budget.spend_bytes(part.len())?;
            Ok(Value::Bool(text.contains(&**part)))
        }
        (Function::StartsWith, [Value::String(start)]) => Ok(Value::Bool(text.starts_with(&**start))),
        (Function::EndsWith, [Value::String(end)]) => Ok(Value::Bool(text.ends_with(&**end))),
        (Function::LowerAscii, []) => Ok(Value::text(text.to_ascii_lowercase())),
        (Function::UpperAscii, []) => Ok(Value::text(text.to_ascii_uppercase())),
        (Function::Trim, []) => Ok(Value::text(text.trim().to_owned())),
        (Function::Split, [Value::String(separator)]) => split(text, separator, -1, budget),
        (Function::Split, [Value::String(separator), Value::Int(limit)]) => {
            split(text, separator, *limit, budget)
        }
        (Function::Replace, [Value::String(old), Value::String(new)]) => replace(text, old, new, -1, budget),
        (Function::Replace, [Value::String(old), Value::String(new), Value::Int(limit)]) => {
            replace(text, old, new, *limit, budget)
        }
        (Function::IndexOf, [Value::String(part)]) => index_of(text, part, 0),
        (Function::IndexOf, [Value::String(part), Value::Int(start)]) => index_of(text, part, *start),
        (Function::Substring, [Value::Int(start)]) => substring(text, *start, None),
        (Function::Substring, [Value::Int(start), Value::Int(end)]) => substring(text, *start, Some(*end)),
        _ => Err(no_overload(name(function), arguments)),
    }
}

fn name(function: Function) -> &'static str {
    let known = crate::names::FUNCTIONS.iter().find(|signature| signature.function == function);
    known.map_or("", |signature| signature.name)
}

/// The number of parts that a limit allows; a negative one allows all.
fn most(limit: i64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn split<'a>(text: &str, separator: &str, limit: i64, budget: &mut Budget) -> Computed<'a> {
    let most = most(limit);
    let mut parts = Vec::new();
    if separator.is_empty() {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            if parts.len() + 1 >= most {
                break;
            }
            let (part, after) = rest.split_at(letter.len_utf8());
            push(&mut parts, part, budget)?;
            rest = after;
        }
        if !rest.is_empty() && parts.len() < most {
            push(&mut parts, rest, budget)?;
        }
    } else {
        for part in text.splitn(most, separator) {
            push(&mut parts, part, budget)?;
        }
    }
    Ok(Value::list(parts))
}

fn push(parts: &mut Vec<Value<'_>>, part: &str, budget: &mut Budget) -> Result<(), Failure> {
    budget.spend_elements(1)?;
    budget.spend_bytes(part.len())?;
    parts.push(Value::text(part.to_owned()));
    Ok(())
}

fn join<'a>(list: &crate::value::List<'a>, separator: &str, budget: &mut Budget) -> Computed<'a> {
    let mut text = String::new();
    for (index, item) in list.iter().enumerate() {
        let Value::String(item) = item else { return Err(no_overload("join", &[item])) };
        // Paid before it is copied.
        budget.spend(1)?;
        budget.spend_bytes(item.len() + separator.len())?;
        if index > 0 {
            text.push_str(separator);
        }
        text.push_str(&item);
    }
    Ok(Value::text(text))
}

fn replace<'a>(text: &str, old: &str, new: &str, limit: i64, budget: &mut Budget) -> Computed<'a> {
    let most = most(limit);
    let count = text.matches(old).take(most).count();
    budget.spend(count)?;
    budget.spend_bytes(count.saturating_mul(new.len()))?;
    Ok(Value::text(text.replacen(old, new, most)))
}

/// Where a character begins, in bytes. The position after the last one counts.
fn offset(text: &str, position: i64) -> Result<usize, Failure> {
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let found = usize::try_from(position).ok().and_then(|position| starts.clone().nth(position));
    found.ok_or_else(|| Failure::Index { index: position.to_string(), length: starts.count() - 1 })
}

fn index_of<'a>(text: &str, part: &str, start: i64) -> Computed<'a> {
    let from = offset(text, start)?;
    let found = text[from..].find(part).map(|at| text[..from + at].chars().count());
    Ok(Value::Int(found.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1)))
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> Computed<'a> {
    let from = offset(text, start)?;
    let to = end.map_or(Ok(text.len()), |end| offset(text, end))?;
    let part = text.get(from..to).ok_or_else(|| Failure::Index { index: start.to_string(), length: to })?;
    Ok(Value::text(part.to_owned()))
}
