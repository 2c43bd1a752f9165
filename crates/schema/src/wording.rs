//! Says in words what the validator found. No value is shown whole, and none is shown that is not in the arguments.

use crate::equality::first_repeat;
use crate::excerpt;
use crate::problem::{Instead, Problem, Problems};
use crate::tree::{Body, Tree};
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;
use std::cell::OnceCell;

/// The problems that `errors` are, told about the value `tree`, which as a whole is called `whole`.
pub(crate) fn tell(
    tree: &Tree<'_>,
    schema: &str,
    whole: &'static str,
    errors: &[ValidationError<'_>],
) -> Vec<Problem> {
    let teller = Teller { tree, text: schema, schema: OnceCell::new() };
    let mut problems = Problems::new(whole);
    for error in errors {
        teller.tell(error, &mut problems);
    }
    problems.into_list()
}

pub(crate) struct Teller<'t> {
    pub(crate) tree: &'t Tree<'t>,
    /// The text of the schema, which is only read when its author's names are needed.
    text: &'t str,
    schema: OnceCell<Value>,
}

impl Teller<'_> {
    pub(crate) fn tell(&self, error: &ValidationError<'_>, problems: &mut Problems) {
        let path = error.instance_path().as_str();
        match error.kind() {
            Kind::Required { property } => self.tell_required(error, property, problems),
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                self.tell_unexpected(error, unexpected, problems);
            }
            Kind::FalseSchema if allows_no_member(error) => self.tell_all_unexpected(error, problems),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.tell_alternatives(path, context, problems);
            }
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                let (expected, _) = expectation(inner.kind(), path, &Tree::of_name(name));
                let name = excerpt::quoted(name);
                let expected = format!("must not have a member named {name}: the name {expected}");
                problems.add(path, expected, Instead::Nothing);
            }
            kind => {
                let (expected, instead) = match self.tree.at(path) {
                    Some(value) => expectation(kind, path, value),
                    None => (format!("does not fit `{}`", kind.keyword()), Instead::Nothing),
                };
                problems.add(path, expected, instead);
            }
        }
    }

    fn tell_required(&self, error: &ValidationError<'_>, property: &Value, problems: &mut Problems) {
        let name = property.as_str().unwrap_or_default();
        let path = error.instance_path().as_str();
        let expected = match self.depends_on(error, name) {
            Some(other) => format!("is required when {} is given", excerpt::quoted(&below(path, other))),
            None => "is required".to_owned(),
        };
        problems.add(&below(path, name), expected, Instead::Nothing);
    }

    /// The member that makes `name` required, if it is required only because of another.
    fn depends_on(&self, error: &ValidationError<'_>, name: &str) -> Option<&str> {
        let rule = error.schema_path().as_str();
        if !rule.ends_with("/dependentRequired") && !rule.ends_with("/dependencies") {
            return None;
        }
        let Body::Object(members) = &self.tree.at(error.instance_path().as_str())?.body else { return None };
        let needs =
            |names: &Value| names.as_array().is_some_and(|names| names.iter().any(|other| other == name));
        let rules = self.schema().pointer(rule)?.as_object()?;
        let (other, _) = rules.iter().find(|(other, names)| members.get(other).is_some() && needs(names))?;
        Some(other)
    }

    fn tell_unexpected(&self, error: &ValidationError<'_>, unexpected: &[String], problems: &mut Problems) {
        let rule = error.schema_path().as_str();
        let parent = rule.rsplit_once('/').map_or("", |(parent, _)| parent);
        let known = self.schema().pointer(parent).and_then(|schema| schema.get("properties")?.as_object());
        let known: Vec<_> = known.into_iter().flatten().map(|(name, _)| excerpt::quoted(name)).collect();
        let expected = match &known[..] {
            [] => "is not allowed".to_owned(),
            [only] => format!("is not allowed; known is {only}"),
            all => format!("is not allowed; known are {}", excerpt::list(all)),
        };
        for (number, name) in unexpected.iter().enumerate() {
            if problems.is_full() {
                return problems.count(unexpected.len() - number);
            }
            problems.add(&below(error.instance_path().as_str(), name), expected.clone(), Instead::Nothing);
        }
    }

    /// This is how the validator says that no member at all is allowed.
    fn tell_all_unexpected(&self, error: &ValidationError<'_>, problems: &mut Problems) {
        let names = match self.tree.at(error.instance_path().as_str()).map(|value| &value.body) {
            Some(Body::Object(members)) => {
                members.list.iter().map(|member| member.name.to_string()).collect()
            }
            _ => Vec::new(),
        };
        self.tell_unexpected(error, &names, problems);
    }

    fn schema(&self) -> &Value {
        self.schema.get_or_init(|| serde_json::from_str(self.text).unwrap_or_default())
    }
}

/// Whether `error` comes from `additionalProperties`, and not from a property that has this name.
fn allows_no_member(error: &ValidationError<'_>) -> bool {
    let keyword = "/additionalProperties";
    error.schema_path().as_str().ends_with(keyword) && !error.instance_path().as_str().ends_with(keyword)
}

/// The path of the member `name` of what stands at `path`.
fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// What was expected of one value on its own, and what there is instead.
fn expectation(kind: &Kind, path: &str, value: &Tree<'_>) -> (String, Instead) {
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
        TypeKind::Multiple(many) => type_list(many.iter()),
    }
}

/// `a string or null`: what is not there comes last, as people say it.
pub(crate) fn type_list(types: impl Iterator<Item = JsonType>) -> String {
    let mut types: Vec<JsonType> = types.collect();
    types.sort_by_key(|each| *each == JsonType::Null);
    types.dedup();
    excerpt::either(&types.into_iter().map(|each| with_article(each).to_owned()).collect::<Vec<_>>())
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
