//! Completion cursor: the position of a client among the values, as an opaque word.

use super::referent::{By, Referent};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_bash_wire::RpcError;
use serde_json::{Value, json};

/// A longer cursor is neither ours nor one that a script can be given.
const LONGEST: usize = 64 * 1024;

/// Where the requested values begin.
#[derive(Default)]
pub(super) struct Cursor {
    pub(super) offset: usize,
    /// The cursor of a script, passed back to it.
    pub(super) foreign: Option<String>,
}

impl Cursor {
    /// Reads a cursor of ours for this referent and its completer. Any other word may be a script's own cursor.
    pub(super) fn read(word: Option<&str>, referent: &Referent<'_>, by: &By) -> Result<Self, RpcError> {
        let Some(word) = word else { return Ok(Self::default()) };
        let invalid = || RpcError::invalid_params("Invalid cursor: leave it out to start over");
        // A script gets its own cursor back in a variable.
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

    /// The cursor for `offset`.
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

/// The content of one of our cursors.
fn decode(word: &str) -> Option<Value> {
    let payload: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(word).ok()?).ok()?;
    (payload["ver"] == 1 && payload["kind"] == "completion").then_some(payload)
}
