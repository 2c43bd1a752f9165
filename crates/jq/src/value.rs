//! Values: JSON values with jq's rules, shared cheaply.

use std::rc::Rc;

use indexmap::IndexMap;
use jaq_core::Error;

use crate::number::Number;

/// An object keeps its keys in insertion order.
pub(crate) type Object = IndexMap<Rc<str>, Value, foldhash::fast::RandomState>;

/// A value, or the error of a filter.
pub(crate) type Result<T = Value> = std::result::Result<T, Error<Value>>;

#[derive(Clone, Debug, Default)]
pub(crate) enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(Rc<str>),
    Array(Rc<Vec<Value>>),
    Object(Rc<Object>),
}

impl Value {
    pub(crate) fn string(text: impl Into<Rc<str>>) -> Self {
        Self::String(text.into())
    }

    pub(crate) fn array(items: Vec<Self>) -> Self {
        Self::Array(Rc::new(items))
    }

    pub(crate) fn object(members: impl IntoIterator<Item = (Rc<str>, Self)>) -> Self {
        Self::Object(Rc::new(members.into_iter().collect()))
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Whether the value counts as true, which everything but `null` and `false` does.
    pub(crate) fn is_true(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.value()),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&Rc<Vec<Self>>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn fail<T>(message: impl Into<Rc<str>>) -> Result<T> {
        Err(Error::new(Self::string(message)))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(Number::from(value))
    }
}

impl From<isize> for Value {
    /// Integers in a program arrive here; those that a double cannot hold keep their digits.
    #[expect(clippy::cast_precision_loss, reason = "none of these is longer than a double is precise")]
    fn from(value: isize) -> Self {
        Self::Number(if value.unsigned_abs() <= EXACT {
            Number::Plain(value as f64)
        } else {
            Number::read(&value.to_string())
        })
    }
}

/// Up to here every integer is exact as a double.
const EXACT: usize = 1 << 53;

impl From<usize> for Value {
    #[expect(clippy::cast_precision_loss, reason = "numbers are doubles, as in jq")]
    fn from(value: usize) -> Self {
        Self::from(value as f64)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::string(text)
    }
}

impl FromIterator<Self> for Value {
    fn from_iter<I: IntoIterator<Item = Self>>(items: I) -> Self {
        Self::array(items.into_iter().collect())
    }
}
