//! `sandbox` in metadata: what a script may do.

use crate::declarations::error::EntryError;
use mcp_bash_sandbox::Declaration;
use serde_json::value::RawValue;

/// The declaration, if there is one.
pub(crate) fn read(field: Option<&RawValue>) -> Result<Option<Declaration>, EntryError> {
    match field.map(RawValue::get) {
        None | Some("null") => Ok(None),
        Some(text) => Ok(Some(Declaration::parse(text)?)),
    }
}
