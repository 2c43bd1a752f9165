//! Violations: what a run over a value finds, as data. The words are made elsewhere.

use crate::compiling::program::{Bound, Size};
use crate::types::JsonTypeSet;
use serde_json::{Number, Value};

/// A value that breaks a rule of the schema.
pub(crate) struct Violation<'p> {
    /// The JSON Pointer of the value.
    pub(crate) path: String,
    /// Whether the schema reached the value by its name under `properties`.
    pub(crate) is_declared: bool,
    /// The JSON Pointer of the subschema.
    pub(crate) location: &'p str,
    pub(crate) kind: Kind<'p>,
}

/// The problems of one alternative.
pub(crate) type Branch<'p> = Vec<Violation<'p>>;

/// What is wrong.
pub(crate) enum Kind<'p> {
    Never,
    Type(JsonTypeSet),
    Const(&'p Value),
    Enum(&'p [Value]),
    Bound(Bound, &'p Number),
    MultipleOf(&'p Number),
    Size(Size, u64),
    Required {
        keyword: &'static str,
        name: &'p str,
        /// The member that makes it required.
        because: Option<&'p str>,
    },
    Pattern(&'p str),
    UniqueItems,
    /// The array has more elements than are described.
    AdditionalItems(usize),
    Contains(&'static str),
    /// Members that are not allowed, and the names that are.
    Unexpected {
        keyword: &'static str,
        names: Vec<String>,
        known: Vec<&'p str>,
    },
    /// How many elements are not allowed.
    UnevaluatedItems(usize),
    /// The name of a member, and what is wrong with the name.
    PropertyName(String, Box<Violation<'p>>),
    /// No alternative of `anyOf` or `oneOf` fits.
    NoAlternative(&'static str, Vec<Branch<'p>>),
    /// More than one alternative of `oneOf` fits.
    ManyAlternatives,
    /// An excerpt of the schema that must not fit.
    Not(&'p str),
}

impl Violation<'_> {
    /// The JSON Pointer of the keyword.
    pub(crate) fn rule(&self) -> String {
        match &self.kind {
            Kind::Never => self.location.to_owned(),
            Kind::PropertyName(_, inner) => inner.rule(),
            kind => format!("{}/{}", self.location, kind.keyword()),
        }
    }

    /// The alternatives, if none of them fits.
    pub(crate) fn alternatives(&self) -> Option<&[Branch<'_>]> {
        if let Kind::NoAlternative(_, branches) = &self.kind { Some(branches) } else { None }
    }
}

impl Kind<'_> {
    pub(crate) fn keyword(&self) -> &'static str {
        match self {
            Self::Never => "false",
            Self::Type(_) => "type",
            Self::Const(_) => "const",
            Self::Enum(_) => "enum",
            Self::Bound(bound, _) => bound.keyword(),
            Self::MultipleOf(_) => "multipleOf",
            Self::Size(size, _) => size.keyword(),
            Self::Required { keyword, .. }
            | Self::Contains(keyword)
            | Self::Unexpected { keyword, .. }
            | Self::NoAlternative(keyword, _) => keyword,
            Self::Pattern(_) => "pattern",
            Self::UniqueItems => "uniqueItems",
            Self::AdditionalItems(_) => "additionalItems",
            Self::UnevaluatedItems(_) => "unevaluatedItems",
            Self::PropertyName(..) => "propertyNames",
            Self::ManyAlternatives => "oneOf",
            Self::Not(_) => "not",
        }
    }
}

impl Bound {
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::ExclusiveMinimum => "exclusiveMinimum",
            Self::ExclusiveMaximum => "exclusiveMaximum",
        }
    }
}

impl Size {
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::MinLength => "minLength",
            Self::MaxLength => "maxLength",
            Self::MinItems => "minItems",
            Self::MaxItems => "maxItems",
            Self::MinProperties => "minProperties",
            Self::MaxProperties => "maxProperties",
        }
    }
}
