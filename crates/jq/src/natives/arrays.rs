//! Array filters, and searches in arrays.

use std::cmp::Ordering;
use std::rc::Rc;

use jaq_core::native::bome;

use super::{Entry, NONE, ONE, items, of_input, of_one};
use crate::value::{Result, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("length", NONE, |call| of_input(call, length)),
    ("reverse", NONE, |call| of_input(call, reverse)),
    ("sort", NONE, |call| of_input(call, |value| sorted(value).map(Value::array))),
    ("_sort_by", ONE, |call| {
        of_one(call, |value, keys| Ok(by_key(value, keys)?.into_iter().map(|(_, item)| item).collect()))
    }),
    ("_group_by", ONE, |call| of_one(call, group_by)),
    ("_min_by", ONE, |call| {
        of_one(call, |value, keys| {
            let smallest = keyed(value, keys)?.min_by(|left, right| left.0.cmp(right.0));
            Ok(smallest.map(|(_, item)| item.clone()).unwrap_or_default())
        })
    }),
    ("_max_by", ONE, |call| {
        of_one(call, |value, keys| {
            let largest = keyed(value, keys)?.max_by(|left, right| left.0.cmp(right.0));
            Ok(largest.map(|(_, item)| item.clone()).unwrap_or_default())
        })
    }),
    ("min", NONE, |call| {
        of_input(call, |value| Ok(list(value, UNSORTABLE)?.iter().min().cloned().unwrap_or_default()))
    }),
    ("max", NONE, |call| {
        of_input(call, |value| Ok(list(value, UNSORTABLE)?.iter().max().cloned().unwrap_or_default()))
    }),
    ("unique", NONE, |call| {
        of_input(call, |value| {
            let mut items = sorted(value)?;
            items.dedup();
            Ok(Value::array(items))
        })
    }),
    ("flatten", NONE, |call| of_input(call, |value| flatten(value, f64::INFINITY))),
    ("flatten", ONE, |call| {
        of_one(call, |value, depth| match depth.as_f64() {
            Some(depth) if depth < 0.0 => Value::fail("flatten depth must not be negative"),
            Some(depth) => flatten(value, depth),
            None => Value::fail("flatten depth must not be negative"),
        })
    }),
    ("add", NONE, |call| {
        bome(items(&call.1).and_then(|items| items.into_iter().try_fold(Value::Null, |sum, item| sum + item)))
    }),
    ("transpose", NONE, |call| of_input(call, transpose)),
    ("indices", ONE, |call| {
        of_one(call, |value, part| match (value, part) {
            (Value::Null, _) => Ok(Value::Null),
            (Value::Array(_), _) | (Value::String(_), Value::String(_)) => Ok(indices(value, part)),
            _ => value.at(part),
        })
    }),
    ("contains", ONE, |call| of_one(call, contains)),
    ("bsearch", ONE, |call| of_one(call, search)),
    ("tojson", NONE, |call| of_input(call, |value| Ok(value.to_json().into()))),
];

const UNSORTABLE: &str = "cannot be sorted, as it is not an array";

fn length(value: &Value) -> Result {
    match value {
        Value::Null => Ok(Value::from(0_usize)),
        Value::Number(number) => Ok(Value::Number(number.magnitude())),
        Value::String(text) => Ok(text.chars().count().into()),
        Value::Array(items) => Ok(items.len().into()),
        Value::Object(members) => Ok(members.len().into()),
        Value::Bool(_) => Value::fail(format!("{} has no length", value.described())),
    }
}

fn list<'v>(value: &'v Value, complaint: &str) -> Result<&'v Rc<Vec<Value>>> {
    value.as_array().map_or_else(|| Value::fail(format!("{} {complaint}", value.described())), Ok)
}

fn reverse(value: &Value) -> Result {
    match value {
        Value::Null => Ok(Value::array(Vec::new())),
        Value::String(text) if text.is_empty() => Ok(Value::array(Vec::new())),
        Value::String(text) => Ok(Value::string(text.chars().rev().collect::<String>())),
        Value::Array(items) => Ok(items.iter().rev().cloned().collect()),
        other => Value::fail(format!("Cannot reverse {}", other.described())),
    }
}

fn sorted(value: &Value) -> Result<Vec<Value>> {
    let mut items = list(value, UNSORTABLE)?.to_vec();
    sort(&mut items, |item| item)?;
    Ok(items)
}

/// Sorts items by a value, unless the values are nested too deeply to be compared.
fn sort<T>(items: &mut [T], key: impl Fn(&T) -> &Value) -> Result<()> {
    let mut too_deep = false;
    items.sort_by(|left, right| {
        key(left).sort_order(key(right)).unwrap_or_else(|| {
            too_deep = true;
            Ordering::Equal
        })
    });
    if too_deep { Value::fail("Comparison too deep") } else { Ok(()) }
}

/// The items, each after its key.
fn keyed<'v>(value: &'v Value, keys: &'v Value) -> Result<impl Iterator<Item = (&'v Value, &'v Value)>> {
    let items = list(value, UNSORTABLE)?;
    let keys = list(keys, "cannot be sorted by, as it is not an array")?;
    Ok(keys.iter().zip(items.iter()))
}

/// The items in the order of their keys, each with its key.
fn by_key(value: &Value, keys: &Value) -> Result<Vec<(Value, Value)>> {
    let mut pairs: Vec<_> = keyed(value, keys)?.map(|(key, item)| (key.clone(), item.clone())).collect();
    sort(&mut pairs, |(key, _)| key)?;
    Ok(pairs)
}

fn group_by(value: &Value, keys: &Value) -> Result {
    let pairs = by_key(value, keys)?;
    let groups = pairs.chunk_by(|left, right| left.0 == right.0);
    Ok(groups.map(|group| group.iter().map(|(_, item)| item.clone()).collect()).collect())
}

fn flatten(value: &Value, depth: f64) -> Result {
    let mut out = Vec::new();
    flatten_into(&items(value)?, depth, &mut out);
    Ok(Value::array(out))
}

fn flatten_into(items: &[Value], depth: f64, out: &mut Vec<Value>) {
    for item in items {
        match item {
            Value::Array(inner) if depth > 0.0 => flatten_into(inner, depth - 1.0, out),
            other => out.push(other.clone()),
        }
    }
}

fn transpose(value: &Value) -> Result {
    let rows = items(value)?;
    let mut width = 0;
    for row in &rows {
        match row {
            Value::Array(cells) => width = width.max(cells.len()),
            other => drop(other.at(&Value::from(0_usize))?),
        }
    }
    (0..width).map(|column| rows.iter().map(|row| row.at(&column.into())).collect::<Result>()).collect()
}

/// The positions of a part in an array or a string.
pub(crate) fn indices(value: &Value, part: &Value) -> Value {
    match (value, part) {
        (Value::String(text), Value::String(part)) => {
            let starts = text.char_indices().enumerate();
            let starts = starts.filter(|(_, (at, _))| !part.is_empty() && text[*at..].starts_with(&**part));
            starts.map(|(count, _)| Value::from(count)).collect()
        }
        (Value::Array(items), Value::Array(part)) if part.is_empty() || part.len() > items.len() => {
            Value::array(Vec::new())
        }
        (Value::Array(items), Value::Array(part)) => {
            let windows = items.windows(part.len()).enumerate();
            windows.filter(|(_, window)| *window == &part[..]).map(|(at, _)| Value::from(at)).collect()
        }
        (Value::Array(items), item) => items
            .iter()
            .enumerate()
            .filter(|(_, other)| *other == item)
            .map(|(at, _)| Value::from(at))
            .collect(),
        _ => Value::Null,
    }
}

fn contains(value: &Value, part: &Value) -> Result {
    if value.kind() != part.kind() {
        return Value::fail(format!(
            "{} and {} cannot have their containment checked",
            value.described(),
            part.described()
        ));
    }
    holds(value, part, 0).map_or_else(|| Value::fail("Containment check too deep"), |holds| Ok(holds.into()))
}

/// How deep values may be nested that are searched in each other.
const MAX_CONTAINED: usize = 10_000;

/// Whether a part is in a value; `None` if the value is nested too deeply to tell.
fn holds(value: &Value, part: &Value, depth: usize) -> Option<bool> {
    if depth > MAX_CONTAINED {
        return None;
    }
    match (value, part) {
        (Value::Object(members), Value::Object(part)) => {
            for (key, part) in part.iter() {
                let Some(member) = members.get(key) else { return Some(false) };
                if !holds(member, part, depth + 1)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        (Value::Array(items), Value::Array(part)) => {
            for part in part.iter() {
                let mut found = false;
                for item in items.iter() {
                    found = found || holds(item, part, depth + 1)?;
                }
                if !found {
                    return Some(false);
                }
            }
            Some(true)
        }
        (Value::String(text), Value::String(part)) => Some(text.contains(&**part)),
        _ => Some(value == part),
    }
}

fn search(value: &Value, wanted: &Value) -> Result {
    let items = list(value, "cannot be searched from")?;
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below the precision of a double")]
    Ok(match items.binary_search(wanted) {
        Ok(at) => at.into(),
        Err(at) => Value::from(-1.0 - at as f64),
    })
}
