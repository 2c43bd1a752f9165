//! Path filters: they change a value along paths, or steer evaluation.

use jaq_core::native::{Fun, bome};
use jaq_core::{Exn, Native, ValX};

use super::{Call, Entry, FILTER, FILTERS, ONE, Results, TWO, VALUE_AND_FILTER, of_one};
use crate::delete::path_of;
use crate::engine::FilterTypes;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Entry] = &[
    ("setpath", TWO, |mut call| {
        let value = call.0.pop_var();
        let path = call.0.pop_var();
        bome(path_of(&path).and_then(|path| call.1.change_at(path, &mut |_| Ok(value.clone()))))
    }),
    ("delpaths", ONE, |call| {
        of_one(call, |value, paths| match paths {
            Value::Array(paths) => value.clone().without_paths(paths),
            _ => Value::fail("Paths must be specified as an array"),
        })
    }),
    ("_modify", FILTERS, |call| Box::new(std::iter::once(modify(call)))),
    ("_assign", VALUE_AND_FILTER, |call| Box::new(std::iter::once(assign(call)))),
    ("_advance", FILTER, advance),
];

/// The paths that a filter leads to from the input of the call, which keeps its input.
fn paths_of<'a>(call: &mut Call<'a>) -> Result<Vec<Vec<Value>>, Exn<'a, Value>> {
    let (filter, context) = call.0.pop_fun();
    #[expect(clippy::default_trait_access, reason = "the type of the list has no public name")]
    let found = filter.paths((context, (call.1.clone(), Default::default())));
    let path = |list: Vec<Value>| list.into_iter().rev().collect();
    found.map(|found| found.map(|(_, list)| path(list.iter().cloned().collect()))).collect()
}

/// Replaces the value at each path with the first result of an update. Without a result, it is deleted.
fn modify(mut call: Call<'_>) -> ValX<'_, Value> {
    let (update, context) = call.0.pop_fun();
    let paths = paths_of(&mut call)?;
    let mut deleted = Vec::new();
    let mut value = call.1;
    for path in paths {
        let mut missing = false;
        value = value.change_at(&path, &mut |old| {
            let result = update.run((context.clone(), old)).next();
            missing = result.is_none();
            result.unwrap_or(Ok(Value::Null))
        })?;
        if missing {
            deleted.push(Value::array(path));
        }
    }
    if deleted.is_empty() { Ok(value) } else { value.without_paths(&deleted).map_err(Exn::from) }
}

fn assign(mut call: Call<'_>) -> ValX<'_, Value> {
    let paths = paths_of(&mut call)?;
    let new = call.0.pop_var();
    paths.into_iter().try_fold(call.1, |value, path| value.change_at(&path, &mut |_| Ok(new.clone())))
}

/// Advances the state of a `foreach`: the last result of the update, beside all its results. Without a result, the
/// state is null, as in `reduce`.
fn advance<'a>(mut call: Call<'a>) -> Results<'a> {
    let (update, context) = call.0.pop_fun();
    let state = call.1.at(&Value::from(0_usize)).unwrap_or_default();
    let results: ValX<'a, Vec<Value>, Value> = update.run((context, state)).collect();
    Box::new(std::iter::once(results.map(|results| {
        let last = results.last().cloned().unwrap_or_default();
        Value::array(vec![last, Value::array(results)])
    })))
}

/// The last result of a filter, or null if there is none.
pub(super) fn last_or_null() -> Fun<FilterTypes> {
    let native = Native::<FilterTypes>::new(|mut call| {
        let (filter, context) = call.0.pop_fun();
        let last = filter.run((context, call.1)).try_fold(None, |_, result| result.map(Some));
        Box::new(std::iter::once(last.map(Option::unwrap_or_default)))
    });
    let native = native.with_paths(|mut call| {
        let (filter, context) = call.0.pop_fun();
        let last = filter.paths((context, call.1)).try_fold(None, |_, result| result.map(Some));
        Box::new(std::iter::once(last.map(Option::unwrap_or_default)))
    });
    ("_last_or_null", FILTER.into(), native)
}
