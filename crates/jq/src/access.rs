//! Value access: reads and replaces the value at a key or a path.

use std::rc::Rc;

use jaq_core::Error;

use crate::value::{Object, Result, Value};

/// The highest index an array can be extended to.
const MAX_INDEX: f64 = 536_870_911.0;

impl Value {
    /// The value at a key: `.[key]`.
    pub(crate) fn at(&self, key: &Self) -> Result {
        match (self, key) {
            (Self::Object(members), Self::String(name)) => Ok(members.get(name).cloned().unwrap_or_default()),
            (Self::Array(items), Self::Number(index)) => Ok(position(index.value(), items.len())
                .and_then(|at| items.get(at))
                .cloned()
                .unwrap_or_default()),
            (Self::Array(_) | Self::Null | Self::String(_), Self::Object(limits)) => {
                let (from, to) = ends(limits)?;
                self.slice(Some(from), Some(to))
            }
            (Self::Array(_), Self::Array(_)) => Ok(crate::natives::arrays::indices(self, key)),
            (Self::Null, Self::String(_) | Self::Number(_)) => Ok(Self::Null),
            _ => self.refuse(key),
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
            _ => {
                let limit = |limit: Option<&Self>| limit.cloned().unwrap_or_default();
                self.refuse(&Self::object([("start".into(), limit(from)), ("end".into(), limit(to))]))
            }
        }
    }

    fn refuse(&self, key: &Self) -> Result {
        Self::fail(format!("Cannot index {} with {}", self.kind(), key.described()))
    }

    /// Replaces the value at a path with what `change` returns for it. The value is taken apart on the way, so that
    /// nothing is copied that has no other owner.
    pub(crate) fn change_at<E: From<Error<Self>>>(
        mut self,
        path: &[Self],
        change: &mut dyn FnMut(Self) -> std::result::Result<Self, E>,
    ) -> std::result::Result<Self, E> {
        let Some((key, rest)) = path.split_first() else { return change(self) };
        let child = self.take_at(key)?.change_at(rest, change)?;
        Ok(self.with(key, child)?)
    }

    /// Takes the value at a key out of its parent, which keeps the place for [`Self::with`].
    pub(crate) fn take_at(&mut self, key: &Self) -> Result {
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
    pub(crate) fn with(self, key: &Self, child: Self) -> Result {
        match (self, key) {
            (Self::Null, Self::String(name)) => Ok(Self::object([(name.clone(), child)])),
            (Self::Object(mut members), Self::String(name)) => {
                Rc::make_mut(&mut members).insert(name.clone(), child);
                Ok(Self::Object(members))
            }
            (Self::Null, Self::Number(index)) => set_item(Rc::default(), index.value(), child),
            (Self::Array(items), Self::Number(index)) => set_item(items, index.value(), child),
            (Self::Null, Self::Object(limits)) => set_slice(Rc::default(), limits, &child),
            (Self::Array(items), Self::Object(limits)) => set_slice(items, limits, &child),
            (Self::String(_), Self::Object(_)) => Self::fail("Cannot update string slices"),
            (Self::Array(_), Self::Array(_)) => Self::fail("Cannot update field at array index of array"),
            (value, _) => value.refuse(key),
        }
    }
}

/// The start and the end of a slice, as a key of a path gives them.
pub(crate) fn ends(limits: &Object) -> Result<(&Value, &Value)> {
    let ends = limits.get("start").zip(limits.get("end"));
    ends.map_or_else(|| Value::fail(NO_SLICE), Ok)
}

const NO_SLICE: &str = "Array/string slice indices must be integers";

/// Resolves an index: negative ones count from the end.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "out of range means out of the array"
)]
#[expect(clippy::cast_precision_loss, reason = "lengths are far below the precision of a double")]
pub(crate) fn position(index: f64, length: usize) -> Option<usize> {
    let index = index.trunc();
    let from_start = if index < 0.0 { index + length as f64 } else { index };
    (from_start >= 0.0).then_some(from_start as usize)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the length first")]
#[expect(clippy::cast_precision_loss, reason = "lengths are far below the precision of a double")]
pub(crate) fn bounds(
    from: Option<&Value>,
    to: Option<&Value>,
    length: usize,
) -> Result<std::ops::Range<usize>> {
    let end = length as f64;
    let bound = |value: Option<&Value>, default: f64| match value {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Number(number)) if number.value().is_nan() => Ok(default),
        Some(Value::Number(number)) => {
            let number = number.value();
            Ok(if number < 0.0 { number + end } else { number })
        }
        Some(_) => Value::fail(NO_SLICE),
    };
    let start = bound(from, 0.0)?.floor().clamp(0.0, end) as usize;
    let stop = bound(to, end)?.ceil().clamp(0.0, end) as usize;
    Ok(start..stop.max(start))
}

fn set_item(mut items: Rc<Vec<Value>>, index: f64, child: Value) -> Result {
    if index.is_nan() {
        return Value::fail("Cannot set array element at NaN index");
    }
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

fn set_slice(mut items: Rc<Vec<Value>>, limits: &Object, child: &Value) -> Result {
    let (from, to) = ends(limits)?;
    let range = bounds(Some(from), Some(to), items.len())?;
    let Value::Array(replacement) = child else {
        return Value::fail("A slice of an array can only be assigned another array");
    };
    Rc::make_mut(&mut items).splice(range, replacement.iter().cloned());
    Ok(Value::Array(items))
}
