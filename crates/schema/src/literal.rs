//! Number literals: how `jsonschema` sees a number, by its text with every digit.

use crate::decimal::Decimal;
use jsonschema::json::JsonNumber;
use serde_json::Number;
use std::borrow::Cow;

/// A number as it was written.
pub(crate) struct Literal<'a>(pub(crate) &'a str);

impl JsonNumber for Literal<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    /// A number that is too large for any number type becomes the largest one: this is only ever shown.
    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(self.0.parse().unwrap_or(Number::from(u64::MAX)))
    }

    fn is_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E']) || Decimal::read(self.0).is_integer()
    }
}
