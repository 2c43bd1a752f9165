//! Type mismatches: which violations are about the type of a value, and which types were required instead.

use crate::running::violation::{Kind, Violation};
use crate::tree::Tree;
use crate::types::{JsonType, JsonTypeSet};
use serde_json::Value;

/// The types that would have been right, if `violation` says that `value` has none of them.
pub(crate) fn wanted_types(violation: &Violation<'_>, value: &Tree<'_>) -> Option<JsonTypeSet> {
    match &violation.kind {
        Kind::Type(types) => Some(*types),
        Kind::Enum(options) => foreign_types(options, value),
        Kind::Const(expected) => foreign_types(std::slice::from_ref(expected), value),
        Kind::NoAlternative(_, branches) => branches
            .iter()
            .map(|branch| branch_wants(branch, &violation.path, value))
            .try_fold(JsonTypeSet::empty(), |all, types| Some(all.union(types?))),
        _ => None,
    }
}

/// The types that an alternative accepts in place of `value` at `path`. `None` if it accepts the type of `value`.
pub(crate) fn branch_wants(branch: &[Violation<'_>], path: &str, value: &Tree<'_>) -> Option<JsonTypeSet> {
    branch
        .iter()
        .filter(|violation| violation.path == path)
        .find_map(|violation| wanted_types(violation, value))
}

/// The types of the author's listed values, if that of `value` is not among them.
fn foreign_types(options: &[Value], value: &Tree<'_>) -> Option<JsonTypeSet> {
    let types: JsonTypeSet = options.iter().map(JsonType::of).collect();
    (!types.contains(value.body.json_type())).then_some(types)
}
