//! Deletion: deletes the values at several paths at once, so that one deletion does not shift the path of another.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::rc::Rc;

use crate::access::{bounds, ends, position};
use crate::value::{Result, Value};

impl Value {
    /// The value without the values at any of the paths.
    pub(crate) fn without_paths(self, paths: &[Self]) -> Result {
        // Sorting brings paths with the same first key together, and empty paths to the front.
        let mut sorted: Vec<&Self> = paths.iter().collect();
        sorted.sort_by(|left, right| left.sort_order(right).unwrap_or(Ordering::Equal));
        let paths = sorted.into_iter().map(path_of).collect::<Result<Vec<_>>>()?;
        match paths.first() {
            None => Ok(self),
            Some([]) => Ok(Self::Null),
            Some(_) => self.without_sorted(&paths),
        }
    }

    /// The value without the values at sorted, non-empty paths.
    fn without_sorted(mut self, paths: &[&[Self]]) -> Result {
        let mut keys = Vec::new();
        for group in paths.chunk_by(|left, right| left[0] == right[0]) {
            let key = &group[0][0];
            if group[0].len() == 1 {
                // The rest of the group is inside the deleted value.
                keys.push(key);
            } else if !matches!(self.at(key)?, Self::Null) {
                let inner: Vec<_> = group.iter().map(|path| &path[1..]).collect();
                let child = self.take_at(key)?.without_sorted(&inner)?;
                self = self.with(key, child)?;
            }
        }
        if keys.is_empty() { Ok(self) } else { self.without_keys(&keys) }
    }

    fn without_keys(self, keys: &[&Self]) -> Result {
        match self {
            Self::Null => Ok(Self::Null),
            Self::Array(items) => without_items(items, keys),
            Self::Object(mut members) => {
                let list = Rc::make_mut(&mut members);
                if let [Self::String(name)] = keys {
                    list.shift_remove(name);
                    return Ok(Self::Object(members));
                }
                let names = keys.iter().map(|key| match key {
                    Self::String(name) => Ok(&**name),
                    _ => Self::fail("Cannot delete field at array index of object"),
                });
                let names = names.collect::<Result<HashSet<&str, foldhash::fast::RandomState>>>()?;
                list.retain(|name, _| !names.contains(&**name));
                Ok(Self::Object(members))
            }
            other => {
                let kind = keys.first().map_or("null", |key| key.kind());
                Self::fail(format!("Cannot delete fields from {} with {kind}", other.kind()))
            }
        }
    }
}

fn without_items(mut items: Rc<Vec<Value>>, keys: &[&Value]) -> Result {
    let mut gone = vec![false; items.len()];
    for key in keys {
        match key {
            Value::Number(index) => {
                if let Some(item) = position(index.value(), items.len()).and_then(|at| gone.get_mut(at)) {
                    *item = true;
                }
            }
            Value::Object(limits) => {
                let (from, to) = ends(limits)?;
                gone[bounds(Some(from), Some(to), items.len())?].fill(true);
            }
            _ => return Value::fail("Cannot delete field at object index of array"),
        }
    }
    let mut gone = gone.into_iter();
    Rc::make_mut(&mut items).retain(|_| gone.next() != Some(true));
    Ok(Value::Array(items))
}

/// How many keys a path may have.
const MAX_PATH: usize = 10_000;

/// The keys of a path.
pub(crate) fn path_of(path: &Value) -> Result<&[Value]> {
    match path {
        Value::Array(keys) if keys.len() > MAX_PATH => Value::fail("Path too deep"),
        Value::Array(keys) => Ok(keys),
        _ => Value::fail("Path must be specified as an array"),
    }
}
