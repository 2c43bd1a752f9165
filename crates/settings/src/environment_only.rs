//! Environment-only settings: a project cannot set them. The operator of the server decides them, by variables or on
//! the command line.

use crate::table;

/// The names, and why.
static NAMES: [(&str, &str); 42] = [
    (table::PROJECT_ROOT.name, "it says which project is served"),
    (table::SERVER_DIR.name, "it says where the settings of a project stand"),
    (table::ROOTS.name, "the roots of a project stand in `config/roots.json`"),
    (table::RESOURCES_ROOTS.name, "it opens folders outside the project"),
    (table::TOOL_ALLOWLIST.name, TOOLS),
    (table::TOOL_ALLOW_DEFAULT.name, TOOLS),
    (table::ALLOW_UNCONFIRMED.name, GATE),
    (table::SANDBOX.name, "a project declares its own `sandbox` in server.d/server.meta.json"),
    (table::SANDBOX_USAGE.name, MACHINE),
    (table::LAUNCHERS.name, "a project declares its own `launchers` in server.d/server.meta.json"),
    (table::TOOL_ENV_INHERIT_ALLOW.name, GATE),
    (table::PROVIDER_ENV_INHERIT_ALLOW.name, GATE),
    (table::ALLOW_PROJECT_HOOKS.name, GATE),
    (table::ASK_ALL_EXECUTABLES.name, GATE),
    (table::HTTPS_ALLOW_ALL.name, GATE),
    (table::GIT_ALLOW_ALL.name, GATE),
    (table::ENABLE_GIT_PROVIDER.name, GATE),
    (table::REMOTE_TOKEN.name, SECRET),
    (table::REMOTE_TOKEN_KEY.name, SECRET),
    (table::REMOTE_TOKEN_FALLBACK_KEY.name, SECRET),
    (table::REMOTE_TOKEN_MAX_FAILURES.name, SECRET),
    (table::STATE_KEYS_FILE.name, SECRET),
    (table::STORE.name, MACHINE),
    (table::SECRETS_FILE.name, PRIVATE),
    (table::LOG_VERBOSE.name, PRIVATE),
    (table::DEBUG_PAYLOADS.name, PRIVATE),
    (table::MAX_PROCESS_BYTES.name, MACHINE),
    (table::MAX_CONNECTION_BYTES.name, MACHINE),
    (table::CONTROL_GROUPS.name, MACHINE),
    (table::PRESERVE_STATE.name, MACHINE),
    (table::KEEP_LOGS.name, MACHINE),
    (table::LOG_DIR.name, MACHINE),
    (table::AUDIT.name, MACHINE),
    (table::AUDIT_ARGUMENTS.name, PRIVATE),
    (table::AUDIT_ON_ERROR.name, MACHINE),
    (table::AUDIT_MAX_BYTES.name, MACHINE),
    (table::AUDIT_MAX_AGE.name, MACHINE),
    (table::AUDIT_KEEP_FILES.name, MACHINE),
    (table::TMP_ROOT.name, MACHINE),
    (table::CI_MODE.name, MACHINE),
    (table::CI_VERBOSE.name, MACHINE),
    (table::TRACE_TOOLS.name, PRIVATE),
];

const GATE: &str = "it opens a gate that is closed for the safety of the operator";
const TOOLS: &str = "the operator decides which tools may run";
const SECRET: &str = "it guards the server against those who have not its secret";
const PRIVATE: &str = "it shows or keeps what is private to the operator";
const MACHINE: &str = "it is about the machine, not about the project";

/// Why a project cannot set this itself. `None` if it can.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    // All of them, including future ones: a folder of scripts does not decide who may run them.
    if name.strip_prefix("MCPBASH_").is_some_and(|name| name.starts_with("HTTP_")) {
        return Some(GATE);
    }
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}
