//! Type mismatches: which errors are about the type of a value, and which types were required instead.

use crate::tree::Tree;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, types::JsonTypeSet};
use serde_json::Value;

/// The types that would have been right, if `error` says that `value` has none of them.
pub(crate) fn wanted_types(error: &ValidationError<'_>, value: &Tree<'_>) -> Option<JsonTypeSet> {
    match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(one) } => Some((*one).into()),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(many) } => Some(*many),
        ValidationErrorKind::Enum { options } => foreign_types(options.as_array()?, value),
        ValidationErrorKind::Constant { expected_value } => {
            foreign_types(std::slice::from_ref(expected_value), value)
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => context
            .iter()
            .map(|branch| branch_wants(branch, error.instance_path().as_str(), value))
            .try_fold(JsonTypeSet::empty(), |all, types| Some(all.union(types?))),
        _ => None,
    }
}

/// The types that an alternative accepts in place of `value` at `path`. `None` if it accepts the type of `value`.
pub(crate) fn branch_wants(
    branch: &[ValidationError<'_>],
    path: &str,
    value: &Tree<'_>,
) -> Option<JsonTypeSet> {
    branch
        .iter()
        .filter(|error| error.instance_path().as_str() == path)
        .find_map(|error| wanted_types(error, value))
}

/// The types of the author's listed values, if that of `value` is not among them.
fn foreign_types(options: &[Value], value: &Tree<'_>) -> Option<JsonTypeSet> {
    let types = options.iter().fold(JsonTypeSet::empty(), |set, option| set.insert(JsonType::from(option)));
    (!types.contains(value.body.json_type())).then_some(types)
}
