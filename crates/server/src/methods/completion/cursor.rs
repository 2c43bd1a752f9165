//! Completion cursor: an opaque position among the values.

use super::referent::{By, Referent};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_bash_wire::RpcError;
use serde_json::{Value, json};

/// A longer cursor is neither one of the server nor one that a script can receive.
const LONGEST: usize = 64 * 1024;

/// The position of the requested values.
#[derive(Default)]
pub(super) struct Cursor {
    pub(super) offset: usize,
    /// A script's own cursor, which is passed back to it.
    pub(super) foreign: Option<String>,
}

impl Cursor {
    /// Reads a cursor that the server wrote for this referent and its completer. Any other text may be a script's own cursor.
    pub(super) fn read(word: Option<&str>, referent: &Referent<'_>, by: &By) -> Result<Self, RpcError> {
        let Some(word) = word else { return Ok(Self::default()) };
        let invalid = || RpcError::invalid_params("Invalid cursor: leave it out to start over");
        // A script receives its own cursor in an environment variable.
        if word.len() > LONGEST || word.contains('\0') {
            return Err(invalid());
        }
        let Some(payload) = decode(word) else {
            return match by {
                By::Script(_) => Ok(Self { offset: 0, foreign: Some(word.to_owned()) }),
                By::Schema(_) => Err(invalid()),
            };
        };
        let offset = payload["offset"].as_u64().and_then(|offset| usize::try_from(offset).ok());
        let is_ours = payload["name"] == referent.name && payload["script"] == by.key(referent);
        let offset = offset.filter(|_| is_ours).ok_or_else(invalid)?;
        Ok(Self { offset, foreign: None })
    }

    /// Whether this is the first page.
    pub(super) fn is_first(&self) -> bool {
        self.offset == 0 && self.foreign.is_none()
    }

    /// The cursor for `offset`. It has the members of the shell framework's; like there, a client may ask for the next page with
    /// other arguments.
    pub(super) fn write(referent: &Referent<'_>, by: &By, hash: &str, offset: usize) -> String {
        let payload = json!({
            "ver": 1,
            "kind": "completion",
            "name": referent.name,
            "args": hash,
            "offset": offset,
            "script": by.key(referent),
        });
        URL_SAFE_NO_PAD.encode(payload.to_string())
    }
}

/// The content of a cursor that the server wrote.
fn decode(word: &str) -> Option<Value> {
    let payload: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(word).ok()?).ok()?;
    (payload["ver"] == 1 && payload["kind"] == "completion").then_some(payload)
}
