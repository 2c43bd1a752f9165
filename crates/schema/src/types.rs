//! JSON types, and sets of them. In JSON Schema an integer is a type of its own, and a number as well.

use serde_json::Value;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    const ALL: [Self; 7] =
        [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    /// The name that `type` uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name() == name)
    }

    /// The type of a value; all numbers are of the type `Number`.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of types, one bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonTypeSet(u8);

impl JsonTypeSet {
    pub(crate) const fn empty() -> Self {
        Self(0)
    }

    pub(crate) const fn insert(self, kind: JsonType) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    pub(crate) const fn contains(self, kind: JsonType) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = JsonType> {
        JsonType::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<JsonType> for JsonTypeSet {
    fn from_iter<I: IntoIterator<Item = JsonType>>(types: I) -> Self {
        types.into_iter().fold(Self::empty(), Self::insert)
    }
}
