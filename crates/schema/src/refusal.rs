//! Schema refusals: why the validator rejects a schema, in our words.

use crate::excerpt::clip;
use crate::tree::Tree;
use crate::written::Written;
use crate::{SchemaError, wording};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError};
use serde_json::json;

/// `text` is the text of the schema, in which `error` names locations.
pub(crate) fn of(error: &ValidationError<'_>, text: &str) -> SchemaError {
    match error.kind() {
        ValidationErrorKind::Referencing(reason) => reference(reason),
        ValidationErrorKind::Format { format } if format == "regex" => pattern(error),
        _ => SchemaError::Invalid(match Tree::read(text) {
            Ok(tree) => wording::tell(&tree, "", "the schema", std::slice::from_ref(error))
                .first()
                .map_or_else(String::new, ToString::to_string),
            Err(_) => clip(&error.to_string(), 200).into_owned(),
        }),
    }
}

fn reference(reason: &ReferencingError) -> SchemaError {
    let short = |text: &str| clip(text, 200).into_owned();
    match reason {
        ReferencingError::Unretrievable { uri, .. } => SchemaError::OutsideReference(short(uri)),
        ReferencingError::PointerToNowhere { pointer } => {
            SchemaError::DanglingReference(short(&format!("#{pointer}")))
        }
        ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
            SchemaError::DanglingReference(short(&format!("#{anchor}")))
        }
        ReferencingError::UnknownSpecification { specification } => {
            SchemaError::UnknownDialect(short(specification))
        }
        other => SchemaError::Invalid(short(&other.to_string())),
    }
}

/// The linear engine rejects the pattern. Whether the backtracking one accepts it tells why.
fn pattern(error: &ValidationError<'_>) -> SchemaError {
    let given = error.instance().as_ref();
    let path = clip(error.schema_path().as_str(), 200).into_owned();
    let pattern = clip(given.as_str().unwrap_or_default(), 200).into_owned();
    if jsonschema::options_for::<Written>().offline().build(&json!({ "pattern": given })).is_ok() {
        SchemaError::UnboundedPattern { path, pattern }
    } else {
        SchemaError::BadPattern { path, pattern }
    }
}
