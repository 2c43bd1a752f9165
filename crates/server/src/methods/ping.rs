//! `ping`: checks that the server is alive.

use crate::handling::Immediate;
use crate::replies::Answer;
use mcp_bash_wire::RpcError;

#[expect(clippy::unnecessary_wraps, reason = "every handler has this signature")]
pub(super) fn ping(_request: &Immediate<'_>) -> Result<Answer, RpcError> {
    Ok(Answer::default())
}
