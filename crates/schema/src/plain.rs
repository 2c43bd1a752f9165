//! Plain schemas, as most tools have them: types, properties, lists, choices and bounds. Preparing a validator for any
//! schema takes milliseconds, for a plain schema next to nothing. A plain schema says yes if a value surely fits;
//! otherwise the validator decides.

use crate::tree::{Body, Tree};
use serde_json::{Map, Value};

/// A schema of which every keyword is known to be valid.
pub(crate) struct Plain {
    kind: Option<PlainKind>,
    properties: Vec<(String, Plain)>,
    required: Vec<String>,
    /// Whether members other than the properties are refused.
    is_closed: bool,
    items: Option<Box<Plain>>,
    /// The allowed texts, if they are limited.
    choices: Option<Vec<String>>,
    /// The bounds of the length of a text, the length of a list, and the size of an integer.
    length: Bounds,
    count: Bounds,
    amount: Bounds,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainKind {
    Object,
    Array,
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

#[derive(Clone, Copy)]
struct Bounds {
    least: i64,
    most: i64,
}

impl Bounds {
    const NONE: Self = Self { least: i64::MIN, most: i64::MAX };

    fn allow(self, value: i64) -> bool {
        (self.least..=self.most).contains(&value)
    }

    /// Whether there are none.
    fn are_open(self) -> bool {
        self.least == i64::MIN && self.most == i64::MAX
    }
}

impl Plain {
    /// Reads a plain schema. `None` if any keyword is of another kind or malformed.
    pub(crate) fn read(schema: &Value) -> Option<Self> {
        let mut plain = Self {
            kind: None,
            properties: Vec::new(),
            required: Vec::new(),
            is_closed: false,
            items: None,
            choices: None,
            length: Bounds::NONE,
            count: Bounds::NONE,
            amount: Bounds::NONE,
        };
        for (word, value) in schema.as_object()? {
            plain.take(word, value)?;
        }
        Some(plain)
    }

    fn take(&mut self, word: &str, value: &Value) -> Option<()> {
        match word {
            "type" => self.kind = Some(kind(value.as_str()?)?),
            "properties" => self.properties = properties(value.as_object()?)?,
            "required" if value.as_array().is_some_and(Vec::is_empty) => {}
            "required" => self.required = distinct_texts(value)?,
            "additionalProperties" => self.is_closed = !value.as_bool()?,
            "items" => self.items = Some(Box::new(Self::read(value)?)),
            "enum" => self.choices = Some(distinct_texts(value)?),
            "minLength" => self.length.least = size(value)?,
            "maxLength" => self.length.most = size(value)?,
            "minItems" => self.count.least = size(value)?,
            "maxItems" => self.count.most = size(value)?,
            "minimum" => self.amount.least = value.as_i64()?,
            "maximum" => self.amount.most = value.as_i64()?,
            "title" | "description" | "$comment" => drop(value.as_str()?),
            "examples" => drop(value.as_array()?),
            "deprecated" | "readOnly" | "writeOnly" => drop(value.as_bool()?),
            "default" => {}
            _ => return None,
        }
        Some(())
    }

    /// Whether a value fits beyond doubt.
    pub(crate) fn surely_fits(&self, value: &Tree<'_>) -> bool {
        match &value.body {
            Body::Null => self.takes(PlainKind::Null),
            Body::Boolean(_) => self.takes(PlainKind::Boolean),
            Body::Number => self.takes_number(value.text),
            Body::String(text) => self.takes_text(text),
            Body::Array(elements) => {
                let is_fit = |element| self.items.as_ref().is_none_or(|items| items.surely_fits(element));
                self.takes(PlainKind::Array)
                    && allows(self.count, elements.len())
                    && elements.iter().all(is_fit)
            }
            Body::Object(members) => {
                let is_fit = |name: &str, value| match self.property(name) {
                    Some(property) => property.surely_fits(value),
                    None => !self.is_closed,
                };
                self.takes(PlainKind::Object)
                    && self.required.iter().all(|name| members.get(name).is_some())
                    && members.list.iter().all(|member| is_fit(&member.name, &member.value))
            }
        }
    }

    fn property(&self, name: &str) -> Option<&Self> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, property)| property)
    }

    /// Whether any value of this type fits; not if choices are listed.
    fn takes(&self, kind: PlainKind) -> bool {
        self.choices.is_none() && self.kind.is_none_or(|own| own == kind)
    }

    fn takes_text(&self, text: &str) -> bool {
        self.kind.is_none_or(|own| own == PlainKind::String)
            && self.choices.as_ref().is_none_or(|choices| choices.iter().any(|choice| choice == text))
            && (self.length.are_open() || allows(self.length, text.chars().count()))
    }

    /// Only a number that is written as an integer is surely one, and surely within bounds.
    fn takes_number(&self, text: &str) -> bool {
        let integer = text.parse::<i64>().ok();
        let is_of_type = self.takes(PlainKind::Number) || integer.is_some() && self.takes(PlainKind::Integer);
        is_of_type && (self.amount.are_open() || integer.is_some_and(|integer| self.amount.allow(integer)))
    }
}

fn allows(bounds: Bounds, size: usize) -> bool {
    i64::try_from(size).is_ok_and(|size| bounds.allow(size))
}

fn kind(name: &str) -> Option<PlainKind> {
    Some(match name {
        "object" => PlainKind::Object,
        "array" => PlainKind::Array,
        "string" => PlainKind::String,
        "number" => PlainKind::Number,
        "integer" => PlainKind::Integer,
        "boolean" => PlainKind::Boolean,
        "null" => PlainKind::Null,
        _ => return None,
    })
}

fn properties(members: &Map<String, Value>) -> Option<Vec<(String, Plain)>> {
    members.iter().map(|(name, schema)| Some((name.clone(), Plain::read(schema)?))).collect()
}

/// Texts of which no two are the same.
fn distinct_texts(list: &Value) -> Option<Vec<String>> {
    let texts: Vec<String> =
        list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let is_first = |(place, text): (usize, &String)| !texts[..place].contains(text);
    let are_distinct = texts.len() < 100 && texts.iter().enumerate().all(is_first);
    (are_distinct && !texts.is_empty()).then_some(texts)
}

/// A size, which is not negative.
fn size(value: &Value) -> Option<i64> {
    value.as_i64().filter(|size| *size >= 0)
}
