//! Assertions: applies the rules of a node to a value. Those with other schemas inside are in `applicators.rs`.

use crate::compiling::program::{Bound, Node, Rule, Size};
use crate::decimal::{Decimal, compare, is_multiple};
use crate::equality::{first_repeat, is_value};
use crate::running::run::{At, Run, Sink};
use crate::running::violation::Kind;
use crate::tree::{Body, Tree};
use crate::types::{JsonType, JsonTypeSet};
use std::cmp::Ordering;

/// Searching a string or an array takes about the time of one visit for this many bytes.
const BYTES_PER_LOOK: usize = 8;
/// So does comparing a value with the choices of `enum` for this many bytes: most of them differ early.
const BYTES_PER_CHOICE: usize = 64;

impl<'p> Run<'p> {
    /// Whether a value fits one rule.
    pub(crate) fn rule(&mut self, node: &'p Node, rule: &'p Rule, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let value = at.value;
        match rule {
            Rule::Never => self.breaks(node, at, sink, || Kind::Never),
            Rule::Type { types, by_value } => {
                has_type(value, *types, *by_value) || self.breaks(node, at, sink, || Kind::Type(*types))
            }
            Rule::Const(expected) => {
                let fits = self.looks_at(value.text.len()) && is_value(value, expected);
                fits || self.breaks(node, at, sink, || Kind::Const(expected))
            }
            Rule::Enum(options) => {
                let work = options.len() * (1 + value.text.len() / BYTES_PER_CHOICE);
                let fits = self.meter.look(work) && options.iter().any(|option| is_value(value, option));
                fits || self.breaks(node, at, sink, || Kind::Enum(options))
            }
            Rule::Bound(bound, limit) => {
                let fits = !matches!(value.body, Body::Number) || bound.allows(compare(value.text, limit));
                fits || self.breaks(node, at, sink, || Kind::Bound(*bound, limit))
            }
            Rule::MultipleOf(step) => {
                let fits = !matches!(value.body, Body::Number) || is_multiple(value.text, step);
                fits || self.breaks(node, at, sink, || Kind::MultipleOf(step))
            }
            Rule::Size(size, limit) => {
                let fits = self.size(*size, value).is_none_or(|count| size.allows(count, *limit));
                fits || self.breaks(node, at, sink, || Kind::Size(*size, *limit))
            }
            Rule::Pattern(pattern) => {
                let Body::String(text) = &value.body else { return true };
                let fits = self.looks_at(text.len()) && pattern.is_match(text);
                fits || self.breaks(node, at, sink, || Kind::Pattern(&pattern.source))
            }
            Rule::UniqueItems => {
                let Body::Array(elements) = &value.body else { return true };
                let fits = self.looks_at(value.text.len()) && first_repeat(elements).is_none();
                fits || self.breaks(node, at, sink, || Kind::UniqueItems)
            }
            Rule::Required(names) => self.required(node, names, "required", None, at, sink),
            Rule::DependentRequired(keyword, lists) => {
                let Body::Object(members) = &value.body else { return true };
                let given = lists.iter().filter(|(name, _)| members.get(name).is_some());
                given.fold(true, |fits, (name, names)| {
                    self.required(node, names, keyword, Some(name), at, sink) && fits
                })
            }
            applicator => self.applicator(node, applicator, at, sink),
        }
    }

    /// Counts the work of searching this many bytes. False once the run is over.
    pub(crate) fn looks_at(&self, bytes: usize) -> bool {
        self.meter.look(bytes / BYTES_PER_LOOK)
    }

    fn required(
        &self,
        node: &'p Node,
        names: &'p [Box<str>],
        keyword: &'static str,
        because: Option<&'p str>,
        at: At<'_>,
        sink: &mut Sink<'p>,
    ) -> bool {
        let Body::Object(members) = &at.value.body else { return true };
        let mut fits = self.meter.look(names.len());
        for name in names.iter().filter(|name| members.get(name).is_none()) {
            fits = self.breaks(node, at, sink, || Kind::Required { keyword, name, because });
            if sink.is_done() {
                break;
            }
        }
        fits
    }

    /// How much there is of what `size` counts.
    fn size(&self, size: Size, value: &Tree<'_>) -> Option<usize> {
        match (size, &value.body) {
            (Size::MinLength | Size::MaxLength, Body::String(text)) => {
                self.looks_at(text.len()).then(|| text.chars().count())
            }
            (Size::MinItems | Size::MaxItems, Body::Array(elements)) => Some(elements.len()),
            (Size::MinProperties | Size::MaxProperties, Body::Object(members)) => Some(members.list.len()),
            _ => None,
        }
    }
}

impl Bound {
    /// Whether a number is allowed that compares like this with the limit.
    fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Minimum => order.is_ge(),
            Self::Maximum => order.is_le(),
            Self::ExclusiveMinimum => order.is_gt(),
            Self::ExclusiveMaximum => order.is_lt(),
        }
    }
}

impl Size {
    fn allows(self, count: usize, limit: u64) -> bool {
        match self {
            Self::MinLength | Self::MinItems | Self::MinProperties => count as u64 >= limit,
            Self::MaxLength | Self::MaxItems | Self::MaxProperties => count as u64 <= limit,
        }
    }
}

fn has_type(value: &Tree<'_>, types: JsonTypeSet, by_value: bool) -> bool {
    let own = value.body.json_type();
    types.contains(own)
        || own == JsonType::Number && types.contains(JsonType::Integer) && is_integer(value.text, by_value)
}

/// Whether a number is an integer, by its value or as it is written.
fn is_integer(text: &str, by_value: bool) -> bool {
    !text.contains(['.', 'e', 'E']) || by_value && Decimal::read(text).is_integer()
}
