//! `launcher` in metadata: what starts a tool on another host.

use crate::declarations::error::EntryError;
use mcp_bash_launchers::{Declaration, Launchers};
use mcp_bash_sandbox::{Declaration as Sandbox, Mode};
use serde_json::value::RawValue;

/// The declaration, if there is one. A tool that runs elsewhere cannot have a sandbox of this host: that would promise
/// what nothing enforces.
pub(crate) fn read(
    field: Option<&RawValue>,
    sandbox: Option<&Sandbox>,
) -> Result<Option<Declaration>, EntryError> {
    let declaration = match field.map(RawValue::get) {
        None | Some("null") => return Ok(None),
        Some(text) => Declaration::parse(text)?,
    };
    let has_sandbox = sandbox.is_some_and(|sandbox| sandbox.effective_mode() > Mode::Off);
    if has_sandbox && !declaration.is_here() {
        return Err("it has a `launcher` and a `sandbox`, and no sandbox is enforced on another host; \
                    remove one of them"
            .into());
    }
    Ok(Some(declaration))
}

/// The launchers of a project, and its default.
pub(crate) fn of_project(named: Option<&RawValue>, default: Option<&RawValue>) -> Result<Launchers, String> {
    Launchers::read(named.map(RawValue::get), default.map(RawValue::get)).map_err(|error| error.to_string())
}
