//! Native filters: those that are written in Rust.

pub(crate) mod arrays;
mod formats;
mod io;
mod json;
mod numbers;
mod objects;
mod paths;
mod regex;
mod strings;
mod time;

use jaq_core::native::{Fun, bome, run};
use jaq_core::{Bind, Cv, RunPtr, ValT, ValXs};

use crate::engine::FilterTypes;
use crate::value::{Result, Value};

/// Name, parameters, implementation.
type Entry = (&'static str, &'static [Bind], RunPtr<FilterTypes>);

/// The most members of an object that is built in one go.
pub(crate) const MEMBERS: usize = 12;

/// Value parameters, as many as an object built in one go can need: its members and their number.
const VALUES: &[Bind] = &[const { Bind::Var(()) }; 2 * MEMBERS + 1];
const NONE: &[Bind] = &[];
const ONE: &[Bind] = &[Bind::Var(())];
const TWO: &[Bind] = &[Bind::Var(()), Bind::Var(())];
const THREE: &[Bind] = &[Bind::Var(()), Bind::Var(()), Bind::Var(())];
const FILTER: &[Bind] = &[Bind::Fun(())];
const FILTERS: &[Bind] = &[Bind::Fun(()), Bind::Fun(())];
const VALUE_AND_FILTER: &[Bind] = &[Bind::Var(()), Bind::Fun(())];

/// Filters that have exactly one result, or fail.
const FUNCTIONS: &[&[Entry]] = &[
    strings::FUNCTIONS,
    arrays::FUNCTIONS,
    objects::FUNCTIONS,
    numbers::FUNCTIONS,
    formats::FUNCTIONS,
    json::FUNCTIONS,
    paths::FUNCTIONS,
    regex::FUNCTIONS,
    time::FUNCTIONS,
    io::FUNCTIONS,
];

/// Filters with any number of results.
const GENERATORS: &[&[Entry]] = &[numbers::GENERATORS, io::GENERATORS];

/// The interpreter's own filters, and our names for them. Our definitions report odd arguments as jq does.
const INTERPRETERS: &[(&str, &str, usize)] = &[
    ("path", "path", 1),
    ("first", "first", 1),
    ("last", "last", 1),
    ("_limit", "limit", 2),
    ("_skip", "skip", 2),
];

fn entry(tables: &[&[Entry]], name: &str, arity: usize) -> Option<Entry> {
    tables.iter().copied().flatten().find(|(known, binds, _)| *known == name && binds.len() == arity).copied()
}

/// Whether a filter has exactly one result whenever it does not fail.
pub(crate) fn is_function(name: &str, arity: usize) -> bool {
    name == "{}" || entry(FUNCTIONS, name, arity).is_some()
}

pub(crate) fn find(name: &str, arity: usize) -> Option<Fun<FilterTypes>> {
    if name == "{}" {
        return Some(run::<FilterTypes>(("{}", VALUES[..arity].into(), objects::build)));
    }
    if name == "_last_or_null" {
        return Some(paths::last_or_null());
    }
    if let Some((ours, theirs, _)) =
        INTERPRETERS.iter().find(|(ours, _, count)| *ours == name && *count == arity)
    {
        let (_, binds, native) = jaq_core::funs::<FilterTypes>().find(|(known, ..)| known == theirs)?;
        return Some((ours, binds, native));
    }
    let (name, binds, function) = entry(FUNCTIONS, name, arity).or_else(|| entry(GENERATORS, name, arity))?;
    Some(run::<FilterTypes>((name, binds.into(), function)))
}

/// All callable names, as `builtins` lists them.
fn names() -> Value {
    let natives =
        FUNCTIONS.iter().chain(GENERATORS).copied().flatten().map(|(name, binds, _)| (*name, binds.len()));
    let own = crate::definitions::DEFINITIONS.iter().map(|(name, arity, _)| (*name, *arity));
    let interpreters = INTERPRETERS.iter().map(|(name, _, arity)| (*name, *arity));
    let public = |(name, _): &(&str, usize)| !name.starts_with(['_', '@']);
    natives
        .chain(own)
        .chain(interpreters)
        .filter(public)
        .map(|(name, arity)| format!("{name}/{arity}").into())
        .collect()
}

type Call<'a> = Cv<'a, FilterTypes>;
type Results<'a> = ValXs<'a, Value>;

/// A function of the input.
#[expect(clippy::needless_pass_by_value, reason = "a call is used up by its function")]
fn of_input(call: Call<'_>, function: impl Fn(&Value) -> Result) -> Results<'_> {
    bome(function(&call.1))
}

/// A function of the input and an argument.
fn of_one(mut call: Call<'_>, function: impl Fn(&Value, &Value) -> Result) -> Results<'_> {
    let argument = call.0.pop_var();
    bome(function(&call.1, &argument))
}

/// The items of the input, which has to be an array or an object.
fn items(value: &Value) -> Result<Vec<Value>> {
    value.clone().values().collect()
}
