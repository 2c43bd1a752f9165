//! Expectations: the words for what is expected of one value by itself.

use crate::compiling::program::{Bound, Size};
use crate::equality::first_repeat;
use crate::excerpt;
use crate::problem::Instead;
use crate::running::violation::Kind;
use crate::tree::{Body, Tree};
use crate::types::JsonType;
use serde_json::Value;

/// What was expected of `value` at `path`, and what there is instead.
pub(crate) fn expectation(kind: &Kind<'_>, path: &str, value: &Tree<'_>) -> (String, Instead) {
    let shown = excerpt::value(value.text);
    let given = |expected: String| (expected, Instead::Given(shown.clone()));
    match kind {
        Kind::Type(types) => {
            let types = excerpt::either(&type_phrases(types.iter()));
            (format!("must be {types}"), Instead::Given(shown_with_kind(value)))
        }
        Kind::Enum([only]) => given(format!("must be {}", excerpt::value(&only.to_string()))),
        Kind::Const(only) => given(format!("must be {}", excerpt::value(&only.to_string()))),
        Kind::Enum(many) => given(format!("must be one of {}", excerpt::list(&values(many)))),
        Kind::Bound(bound, limit) => given(match bound {
            Bound::Minimum => format!("must be at least {limit}"),
            Bound::Maximum => format!("must be at most {limit}"),
            Bound::ExclusiveMinimum => format!("must be greater than {limit}"),
            Bound::ExclusiveMaximum => format!("must be less than {limit}"),
        }),
        Kind::MultipleOf(step) => given(format!("must be a multiple of {step}")),
        Kind::Pattern(pattern) => given(format!("must match the pattern {}", excerpt::quoted(pattern))),
        Kind::Size(size, limit) => of_size(*size, *limit, value),
        Kind::AdditionalItems(limit) => of_size(Size::MaxItems, *limit as u64, value),
        Kind::UniqueItems => ("must not hold the same item twice".to_owned(), repeated(value, path)),
        Kind::Contains(_) => {
            ("must contain as many matching items as `contains` asks for".to_owned(), Instead::Nothing)
        }
        Kind::UnevaluatedItems(count) => {
            (format!("must not have its last {}", counted(*count as u64, "item")), Instead::Nothing)
        }
        Kind::ManyAlternatives => {
            let more = format!("{shown} fits more than one");
            ("must fit exactly one of its alternatives".to_owned(), Instead::But(more))
        }
        Kind::Not(schema) => given(format!("must not fit `{schema}`")),
        Kind::Never if path.is_empty() => {
            ("must not be given, as the schema allows no value".to_owned(), Instead::Nothing)
        }
        Kind::Never => ("is not allowed".to_owned(), Instead::Nothing),
        other => given(format!("must fit `{}`", other.keyword())),
    }
}

/// What is expected of the length of a string or the size of a container.
fn of_size(size: Size, limit: u64, value: &Tree<'_>) -> (String, Instead) {
    let (verb, thing, length) = match size {
        Size::MinLength | Size::MaxLength => ("be", "character", " long"),
        Size::MinItems | Size::MaxItems => ("have", "item", ""),
        Size::MinProperties | Size::MaxProperties => ("have", "member", ""),
    };
    let bound = match size {
        Size::MinLength | Size::MinItems | Size::MinProperties => "at least",
        Size::MaxLength | Size::MaxItems | Size::MaxProperties => "at most",
    };
    let instead = match &value.body {
        Body::String(text) => format!("{} has {}", excerpt::value(value.text), text.chars().count()),
        Body::Array(elements) => format!("has {}", elements.len()),
        Body::Object(members) => format!("has {}", members.list.len()),
        _ => String::new(),
    };
    (format!("must {verb} {bound} {}{length}", counted(limit, thing)), Instead::But(instead))
}

/// The usual words for types, `null` last.
pub(crate) fn type_phrases(types: impl Iterator<Item = JsonType>) -> Vec<String> {
    let mut types: Vec<JsonType> = types.collect();
    types.sort_unstable_by_key(|each| (*each == JsonType::Null, *each));
    types.dedup();
    types.into_iter().map(|each| with_article(each).to_owned()).collect()
}

fn with_article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

/// `"five" (a string)`.
pub(crate) fn shown_with_kind(value: &Tree<'_>) -> String {
    match value.body {
        Body::Null => "null".to_owned(),
        _ => format!("{} ({})", excerpt::value(value.text), with_article(value.body.json_type())),
    }
}

/// The values an author listed, as they are shown.
pub(crate) fn values(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| excerpt::value(&value.to_string())).collect()
}

fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn repeated(value: &Tree<'_>, path: &str) -> Instead {
    let Body::Array(elements) = &value.body else { return Instead::Nothing };
    match first_repeat(elements) {
        Some((earlier, later)) => Instead::But(format!("`{path}/{later}` repeats `{path}/{earlier}`")),
        None => Instead::Nothing,
    }
}
