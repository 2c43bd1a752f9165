//! CEL values. JSON is borrowed and converted as far as an expression looks at it.

use crate::duration::Span;
use crate::held::Held;
use crate::timestamp::Timestamp;
use serde_json::Value as Json;
use std::fmt;
use std::rc::Rc;

#[derive(Debug, Clone)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Held<'a, str>),
    Bytes(Held<'a, [u8]>),
    List(List<'a>),
    Map(Map<'a>),
    Timestamp(Timestamp),
    Duration(Span),
    Type(Type),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    List,
    Map,
    Timestamp,
    Duration,
    Type,
}

impl Type {
    pub(crate) const ALL: [(&'static str, Self); 12] = [
        ("null_type", Self::Null),
        ("bool", Self::Bool),
        ("int", Self::Int),
        ("uint", Self::Uint),
        ("double", Self::Double),
        ("string", Self::String),
        ("bytes", Self::Bytes),
        ("list", Self::List),
        ("map", Self::Map),
        ("google.protobuf.Timestamp", Self::Timestamp),
        ("google.protobuf.Duration", Self::Duration),
        ("type", Self::Type),
    ];
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(_, kind)| kind == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

/// A list: one of JSON, or one that an expression made.
#[derive(Debug, Clone)]
pub enum List<'a> {
    Json(&'a [Json]),
    Made(Rc<[Value<'a>]>),
}

impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::Made(items) => items.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Json(items) => items.get(index).map(Value::from),
            Self::Made(items) => items.get(index).cloned(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// A map: an object of JSON, or one that an expression made, with its entries in the order in which they were written.
#[derive(Debug, Clone)]
pub enum Map<'a> {
    Json(&'a serde_json::Map<String, Json>),
    Made(Rc<[(Value<'a>, Value<'a>)]>),
}

impl<'a> Map<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Json(members) => members.len(),
            Self::Made(entries) => entries.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn entries(&self) -> Box<dyn Iterator<Item = (Value<'a>, Value<'a>)> + '_> {
        match self {
            Self::Json(members) => {
                let members: &'a serde_json::Map<String, Json> = members;
                Box::new(members.iter().map(|(key, value)| (Value::from(&**key), Value::from(value))))
            }
            Self::Made(entries) => Box::new(entries.iter().cloned()),
        }
    }
}

impl<'a> Value<'a> {
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::List(_) => Type::List,
            Self::Map(_) => Type::Map,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Duration(_) => Type::Duration,
            Self::Type(_) => Type::Type,
        }
    }

    pub(crate) fn text(text: String) -> Self {
        Self::String(Held::Shared(text.into()))
    }

    pub(crate) fn list(items: Vec<Value<'a>>) -> Self {
        Self::List(List::Made(items.into()))
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            // Integers that fit are ints, all other numbers doubles.
            Json::Number(number) => {
                number.as_i64().map_or_else(|| Self::Double(number.as_f64().unwrap_or(f64::NAN)), Self::Int)
            }
            Json::String(text) => Self::from(&**text),
            Json::Array(items) => Self::List(List::Json(items)),
            Json::Object(members) => Self::Map(Map::Json(members)),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Held::Borrowed(text))
    }
}

/// How many elements and characters of a value are shown.
const SHOWN_ITEMS: usize = 8;
const SHOWN_LETTERS: usize = 80;

/// A short form for people: long texts and lists are cut.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self, f, 3)
    }
}

fn show(value: &Value<'_>, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    match value {
        Value::Null => f.write_str("null"),
        Value::Bool(value) => write!(f, "{value}"),
        Value::Int(value) => write!(f, "{value}"),
        Value::Uint(value) => write!(f, "{value}u"),
        Value::Double(value) => write!(f, "{value:?}"),
        Value::String(text) => match text.char_indices().nth(SHOWN_LETTERS) {
            Some((end, _)) => write!(f, "{:?}…", &text[..end]),
            None => write!(f, "{:?}", &**text),
        },
        Value::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
        Value::List(_) | Value::Map(_) if depth == 0 => f.write_str("…"),
        Value::List(list) => {
            f.write_str("[")?;
            for (index, item) in list.iter().take(SHOWN_ITEMS).enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                show(&item, f, depth - 1)?;
            }
            f.write_str(if list.len() > SHOWN_ITEMS { ", …]" } else { "]" })
        }
        Value::Map(map) => {
            f.write_str("{")?;
            for (index, (key, item)) in map.entries().take(SHOWN_ITEMS).enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                show(&key, f, 0)?;
                f.write_str(": ")?;
                show(&item, f, depth - 1)?;
            }
            f.write_str(if map.len() > SHOWN_ITEMS { ", …}" } else { "}" })
        }
        Value::Timestamp(time) => write!(f, "{time}"),
        Value::Duration(span) => write!(f, "{span}"),
        Value::Type(kind) => write!(f, "{kind}"),
    }
}
