//! Expectations: the words for what is expected of one value by itself.

use crate::equality::first_repeat;
use crate::excerpt;
use crate::problem::Instead;
use crate::tree::{Body, Tree};
use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

/// What was expected of `value` at `path`, and what there is instead.
pub(crate) fn expectation(kind: &Kind, path: &str, value: &Tree<'_>) -> (String, Instead) {
    let shown = excerpt::value(value.text);
    let has = |count: usize| Instead::But(format!("has {count}"));
    let given = |expected: String| (expected, Instead::Given(shown.clone()));
    match kind {
        Kind::Type { kind } => (format!("must be {}", types(kind)), Instead::Given(shown_with_kind(value))),
        Kind::Enum { options } => given(match options.as_array().map(Vec::as_slice) {
            Some([only]) => format!("must be {}", excerpt::value(&only.to_string())),
            Some(many) => format!("must be one of {}", excerpt::list(&values(many))),
            None => "must be one of the listed values".to_owned(),
        }),
        Kind::Constant { expected_value } => {
            given(format!("must be {}", excerpt::value(&expected_value.to_string())))
        }
        Kind::Minimum { limit } => given(format!("must be at least {limit}")),
        Kind::Maximum { limit } => given(format!("must be at most {limit}")),
        Kind::ExclusiveMinimum { limit } => given(format!("must be greater than {limit}")),
        Kind::ExclusiveMaximum { limit } => given(format!("must be less than {limit}")),
        Kind::MultipleOf { multiple_of } => given(format!("must be a multiple of {multiple_of}")),
        Kind::Pattern { pattern } => given(format!("must match the pattern {}", excerpt::quoted(pattern))),
        Kind::MinLength { limit } => {
            (format!("must be at least {} long", counted(*limit, "character")), characters(value, &shown))
        }
        Kind::MaxLength { limit } => {
            (format!("must be at most {} long", counted(*limit, "character")), characters(value, &shown))
        }
        Kind::MinItems { limit } => {
            (format!("must have at least {}", counted(*limit, "item")), has(size(value)))
        }
        Kind::MaxItems { limit } => {
            (format!("must have at most {}", counted(*limit, "item")), has(size(value)))
        }
        Kind::AdditionalItems { limit } => {
            (format!("must have at most {}", counted(*limit as u64, "item")), has(size(value)))
        }
        Kind::MinProperties { limit } => {
            (format!("must have at least {}", counted(*limit, "member")), has(size(value)))
        }
        Kind::MaxProperties { limit } => {
            (format!("must have at most {}", counted(*limit, "member")), has(size(value)))
        }
        Kind::UniqueItems => ("must not hold the same item twice".to_owned(), repeated(value, path)),
        Kind::Contains => {
            ("must contain as many matching items as `contains` asks for".to_owned(), Instead::Nothing)
        }
        Kind::UnevaluatedItems { unexpected } => {
            (format!("must not have its last {}", counted(unexpected.len() as u64, "item")), Instead::Nothing)
        }
        Kind::OneOfMultipleValid { .. } => {
            let more = format!("{shown} fits more than one");
            ("must fit exactly one of its alternatives".to_owned(), Instead::But(more))
        }
        Kind::Not { schema } => given(format!("must not fit `{}`", excerpt::value(&schema.to_string()))),
        Kind::FalseSchema if path.is_empty() => {
            ("must not be given, as the schema allows no value".to_owned(), Instead::Nothing)
        }
        Kind::FalseSchema => ("is not allowed".to_owned(), Instead::Nothing),
        other => given(format!("must fit `{}`", other.keyword())),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(*one).to_owned(),
        TypeKind::Multiple(many) => excerpt::either(&type_phrases(many.iter())),
    }
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

fn characters(value: &Tree<'_>, shown: &str) -> Instead {
    let Body::String(string) = &value.body else { return Instead::Nothing };
    Instead::But(format!("{shown} has {}", string.chars().count()))
}

fn size(value: &Tree<'_>) -> usize {
    match &value.body {
        Body::Array(elements) => elements.len(),
        Body::Object(members) => members.list.len(),
        _ => 0,
    }
}

fn repeated(value: &Tree<'_>, path: &str) -> Instead {
    let Body::Array(elements) = &value.body else { return Instead::Nothing };
    match first_repeat(elements) {
        Some((earlier, later)) => Instead::But(format!("`{path}/{later}` repeats `{path}/{earlier}`")),
        None => Instead::Nothing,
    }
}
