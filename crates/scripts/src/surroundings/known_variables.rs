//! Known variables: those that scripts and their SDK use, and that are not settings of the server. A server that a script
//! starts finds them in its environment.

use crate::surroundings::environment::OF_ONE_CALL;
use crate::surroundings::server_variables;
use mcp_bash_settings::MOOT;

/// Variables that all scripts receive, and that the SDK reads.
const OF_ALL_CALLS: [&str; 16] = [
    "MCPBASH_BIN",
    "MCPBASH_DEBUG_LOG",
    "MCPBASH_ELICITATION_TIMEOUT",
    "MCPBASH_HOME",
    "MCPBASH_JSON_TOOL",
    "MCPBASH_JSON_TOOL_BIN",
    "MCPBASH_LAUNCH_ID",
    "MCPBASH_LAUNCH_MARK",
    "MCPBASH_MAX_TEXT_BYTES",
    "MCPBASH_MODE",
    "MCPBASH_TEST_PANIC",
    "MCPBASH_TRACE_FILE",
    "MCP_CALL_ID",
    "MCP_CONFIG_JSON",
    "MCP_ELICIT_DEFAULT_TIMEOUT",
    "MCP_SDK",
];

/// The names of all of them, and those that only the reference implementation uses.
pub fn known_variables() -> Vec<&'static str> {
    let of_all = OF_ALL_CALLS.into_iter().chain(server_variables::NAMES);
    OF_ONE_CALL.into_iter().chain(of_all).chain(MOOT.iter().map(|(name, _)| *name)).collect()
}
