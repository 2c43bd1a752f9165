//! Whether a file that did not say what it has would say it a moment later.

use crate::error::{Failed, NoEnvironment, ScriptError};
use mcp_bash_files::shortage::is_shortage;
use mcp_bash_project::Unanswered;
use mcp_bash_runner::StartError;

/// What programs say that could not have what the system is short of: in the words of the system, and of their languages.
const SHORTAGES: [&str; 8] = [
    "Too many open files",
    "Cannot allocate memory",
    "No space left on device",
    "Resource temporarily unavailable",
    "can't start new thread",
    "MemoryError",
    "EMFILE",
    "EAGAIN",
];

/// Whether the words of a program tell of a shortage of the system.
pub(crate) fn tells_of_shortage(said: &str) -> bool {
    SHORTAGES.iter().any(|shortage| said.contains(shortage))
}

/// Whether a process could not be started for a reason that passes.
pub(crate) fn start_passes(error: &StartError) -> bool {
    let (StartError::Spawn { source, .. } | StartError::SideChannel(source) | StartError::Questions(source)) =
        error;
    is_shortage(source)
}

impl ScriptError {
    /// Why there is no worker that could be asked.
    pub(crate) fn into_unanswered(self) -> Unanswered {
        let passes = match &self {
            Self::NoEnvironment(NoEnvironment::Sdk(_)) | Self::NoRoom { .. } => true,
            other => tells_of_shortage(&other.to_string()),
        };
        Unanswered { why: self.to_string(), passes }
    }
}

impl Failed {
    /// Why a provider that ended so has not answered.
    pub(crate) fn into_unanswered(self) -> Unanswered {
        let passes = match &self {
            Self::Signalled { .. } | Self::TimedOut { .. } | Self::NoRoom(_) => true,
            Self::Exited { said, .. } => tells_of_shortage(said),
            Self::OutputTooLarge { .. } | Self::Cancelled | Self::Shutdown => false,
        };
        Unanswered { why: self.to_string(), passes }
    }
}
