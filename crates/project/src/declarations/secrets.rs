//! `secrets` in metadata: which secrets a script needs, by name.

use crate::declarations::error::EntryError;
use mcp_bash_secrets::Needs;
use serde_json::value::RawValue;

/// The needs; none if nothing is declared.
pub(crate) fn read(field: Option<&RawValue>) -> Result<Needs, EntryError> {
    match field.map(RawValue::get) {
        None | Some("null") => Ok(Needs::default()),
        Some(text) => Ok(Needs::parse(text)?),
    }
}
