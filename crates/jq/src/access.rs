//! Reaching into values: reading, replacing and deleting what stands at a key or a path.

use std::rc::Rc;

use jaq_core::Error;

use crate::value::{Result, Value};

/// The highest index an array can be extended to.
const MAX_INDEX: f64 = 536_870_911.0;

impl Value {
    /// What stands at a key: `.[key]`.
    pub(crate) fn at(&self, key: &Self) -> Result {
        match (self, key) {
            (Self::Object(members), Self::String(name)) => Ok(members.get(name).cloned().unwrap_or_default()),
            (Self::Array(items), Self::Number(index)) => Ok(position(index.value(), items.len())
                .and_then(|at| items.get(at))
                .cloned()
                .unwrap_or_default()),
            (Self::Array(_) | Self::Null | Self::String(_), Self::Object(bounds)) => {
                self.slice(bounds.get("start"), bounds.get("end"))
            }
            (Self::Array(_), Self::Array(_)) => Ok(crate::natives::arrays::indices(self, key)),
            (Self::Null, Self::String(_) | Self::Number(_) | Self::Null) => Ok(Self::Null),
            _ => Self::fail(format!("Cannot index {} with {}", self.kind(), key_text(key))),
        }
    }

    /// A part of an array or a string: `.[from:to]`.
    pub(crate) fn slice(&self, from: Option<&Self>, to: Option<&Self>) -> Result {
        match self {
            Self::Null => Ok(Self::Null),
            Self::Array(items) => {
                let range = bounds(from, to, items.len())?;
                Ok(items[range].iter().cloned().collect())
            }
            Self::String(text) => {
                let range = bounds(from, to, text.chars().count())?;
                Ok(Self::string(text.chars().skip(range.start).take(range.len()).collect::<String>()))
            }
            _ => Self::fail(format!("Cannot index {} with object", self.kind())),
        }
    }

    /// Replaces what stands at a path by what `change` makes of it. The value is taken apart on the way, so that
    /// nothing is copied that nobody else holds.
    pub(crate) fn change_at<E: From<Error<Self>>>(
        mut self,
        path: &[Self],
        change: &mut dyn FnMut(Self) -> std::result::Result<Self, E>,
    ) -> std::result::Result<Self, E> {
        let Some((key, rest)) = path.split_first() else { return change(self) };
        let child = self.take_at(key)?.change_at(rest, change)?;
        Ok(self.with(key, child)?)
    }

    /// Takes what stands at a key out of the value, which keeps the place for [`Self::with`].
    fn take_at(&mut self, key: &Self) -> Result {
        match (&mut *self, key) {
            (Self::Object(members), Self::String(name)) => {
                Ok(Rc::make_mut(members).get_mut(name).map(std::mem::take).unwrap_or_default())
            }
            (Self::Array(items), Self::Number(index)) => {
                let at = position(index.value(), items.len());
                Ok(at.and_then(|at| Rc::make_mut(items).get_mut(at)).map(std::mem::take).unwrap_or_default())
            }
            _ => self.at(key),
        }
    }

    /// The value with another one at a key.
    fn with(self, key: &Self, child: Self) -> Result {
        match (self, key) {
            (Self::Null, Self::String(name)) => Ok(Self::object([(name.clone(), child)])),
            (Self::Object(mut members), Self::String(name)) => {
                Rc::make_mut(&mut members).insert(name.clone(), child);
                Ok(Self::Object(members))
            }
            (Self::Null, Self::Number(index)) => set_item(Rc::default(), index.value(), child),
            (Self::Array(items), Self::Number(index)) => set_item(items, index.value(), child),
            (Self::Null, Self::Object(limits)) => {
                set_slice(Rc::default(), limits.get("start"), limits.get("end"), &child)
            }
            (Self::Array(items), Self::Object(limits)) => {
                set_slice(items, limits.get("start"), limits.get("end"), &child)
            }
            (Self::String(_), Self::Object(_)) => Self::fail("Cannot update string slices"),
            (value, _) => Self::fail(format!("Cannot index {} with {}", value.kind(), key_text(key))),
        }
    }

    /// The value without what stands at any of the paths.
    pub(crate) fn without_paths(self, paths: &[Self]) -> Result {
        let mut paths = paths.to_vec();
        paths.sort_unstable();
        paths.iter().rev().try_fold(self, |value, path| match path {
            Self::Array(path) => value.without_path(path),
            _ => Self::fail("Path must be specified as an array"),
        })
    }

    fn without_path(mut self, path: &[Self]) -> Result {
        match path {
            [] => Ok(Self::Null),
            _ if matches!(self, Self::Null) => Ok(Self::Null),
            [key] => self.without(key),
            [key, ..] if matches!(self.at(key)?, Self::Null) => Ok(self),
            [key, rest @ ..] => {
                let child = self.take_at(key)?.without_path(rest)?;
                self.with(key, child)
            }
        }
    }

    fn without(self, key: &Self) -> Result {
        match (self, key) {
            (Self::Null, _) => Ok(Self::Null),
            (Self::Object(mut members), Self::String(name)) => {
                Rc::make_mut(&mut members).shift_remove(name);
                Ok(Self::Object(members))
            }
            (Self::Array(mut items), Self::Number(index)) => {
                if let Some(at) = position(index.value(), items.len()).filter(|at| *at < items.len()) {
                    Rc::make_mut(&mut items).remove(at);
                }
                Ok(Self::Array(items))
            }
            (Self::Array(mut items), Self::Object(limits)) => {
                let range = bounds(limits.get("start"), limits.get("end"), items.len())?;
                Rc::make_mut(&mut items).drain(range);
                Ok(Self::Array(items))
            }
            (value @ Self::Object(_), _) => {
                Self::fail(format!("Cannot delete field at {} index of {}", "array", value.kind()))
            }
            (value @ Self::Array(_), _) => {
                Self::fail(format!("Cannot delete field at {} index of {}", "object", value.kind()))
            }
            (value, key) => {
                Self::fail(format!("Cannot delete fields from {} with {}", value.kind(), key.kind()))
            }
        }
    }
}

/// The key as messages about it say it.
fn key_text(key: &Value) -> String {
    match key {
        Value::String(name) => format!("string \"{name}\""),
        other => other.kind().to_owned(),
    }
}

/// Where an index points: negative ones count from the end.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "out of range means out of the array"
)]
#[expect(clippy::cast_precision_loss, reason = "lengths are far below the precision of a double")]
fn position(index: f64, length: usize) -> Option<usize> {
    let index = index.floor();
    let from_start = if index < 0.0 { index + length as f64 } else { index };
    (from_start >= 0.0).then_some(from_start as usize)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the length first")]
#[expect(clippy::cast_precision_loss, reason = "lengths are far below the precision of a double")]
fn bounds(from: Option<&Value>, to: Option<&Value>, length: usize) -> Result<std::ops::Range<usize>> {
    let end = length as f64;
    let bound = |value: Option<&Value>, default: f64| match value {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Number(number)) => {
            let number = number.value();
            Ok(if number < 0.0 { number + end } else { number })
        }
        Some(_) => Value::fail("Start and end indices of an array slice must be numbers"),
    };
    let start = bound(from, 0.0)?.floor().clamp(0.0, end) as usize;
    let stop = bound(to, end)?.ceil().clamp(0.0, end) as usize;
    Ok(start..stop.max(start))
}

fn set_item(mut items: Rc<Vec<Value>>, index: f64, child: Value) -> Result {
    if index > MAX_INDEX {
        return Value::fail("Array index too large");
    }
    let Some(at) = position(index, items.len()) else {
        return Value::fail("Out of bounds negative array index");
    };
    let list = Rc::make_mut(&mut items);
    if at >= list.len() {
        list.resize(at + 1, Value::Null);
    }
    list[at] = child;
    Ok(Value::Array(items))
}

fn set_slice(mut items: Rc<Vec<Value>>, from: Option<&Value>, to: Option<&Value>, child: &Value) -> Result {
    let range = bounds(from, to, items.len())?;
    let Value::Array(replacement) = child else {
        return Value::fail("A slice of an array can only be assigned another array");
    };
    Rc::make_mut(&mut items).splice(range, replacement.iter().cloned());
    Ok(Value::Array(items))
}
