//! Required capabilities: rejects clients that lack a capability that a script requires.

use crate::handling::Work;
use mcp_bash_project::ClientCapability;
use mcp_bash_wire::RpcError;
use serde_json::json;

/// Rejects the request if the client lacks any of these capabilities.
pub(super) fn check(work: &Work, required: &[ClientCapability]) -> Result<(), RpcError> {
    if required.is_empty() {
        return Ok(());
    }
    let offered = work.capabilities();
    let is_missing = |capability: &&ClientCapability| match capability {
        ClientCapability::Form => !offered.form,
        ClientCapability::Url => !offered.url,
        ClientCapability::Sampling => !offered.sampling,
        ClientCapability::Roots => !offered.roots,
    };
    let missing: Vec<ClientCapability> = required.iter().filter(is_missing).copied().collect();
    if missing.is_empty() { Ok(()) } else { Err(refusal(&missing)) }
}

fn refusal(missing: &[ClientCapability]) -> RpcError {
    let mut capabilities = json!({});
    for capability in missing {
        match capability {
            ClientCapability::Form => capabilities["elicitation"]["form"] = json!({}),
            ClientCapability::Url => capabilities["elicitation"]["url"] = json!({}),
            ClientCapability::Sampling => capabilities["sampling"] = json!({}),
            ClientCapability::Roots => capabilities["roots"] = json!({}),
        }
    }
    let names = missing.iter().map(|capability| capability.name()).collect::<Vec<_>>().join(", ");
    let message = format!("This needs a client that offers {names}, and yours does not say that it does");
    RpcError { message: message.into(), ..RpcError::missing_client_capability(&capabilities) }
}
