//! Running: processes from start to outcome, and the errors of calls.

pub(crate) mod call_files;
pub(crate) mod error;
pub(crate) mod missing_variable;
pub(crate) mod outcome;
pub(crate) mod process;
pub(crate) mod processes;
pub(crate) mod redacting;
pub(crate) mod sdk_not_sourced;
pub(crate) mod server_script;
pub(crate) mod spill;
pub(crate) mod start_failure;
pub(crate) mod time_limits;
pub(crate) mod unanswered;
