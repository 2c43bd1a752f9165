//! Problem wording: describes what the validator found. No value is shown whole, and none that is not in the arguments.

use crate::excerpt;
use crate::expectation::expectation;
use crate::problem::{Instead, Problem, Problems};
use crate::tree::{Body, Tree};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;
use std::cell::OnceCell;

/// Describes `errors` as problems of the value `tree`, which as a whole is called `whole`.
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
    /// The text of the schema, which is read only when its author's names are needed.
    text: &'t str,
    schema: OnceCell<Value>,
}

impl Teller<'_> {
    pub(crate) fn tell(&self, error: &ValidationError<'_>, problems: &mut Problems) {
        let path = error.instance_path().as_str();
        problems.set_rule(error.schema_path().as_str());
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

/// The path of the member `name` of the value at `path`.
fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}
