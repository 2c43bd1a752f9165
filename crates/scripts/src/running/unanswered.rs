//! Unanswered files: whether a file that failed to report its definitions may succeed at the next attempt.

use crate::running::error::{Failed, NoEnvironment, ScriptError};
use mcp_bash_files::shortage::is_shortage;
use mcp_bash_project::{Unanswered, languages};
use mcp_bash_runner::StartError;

/// Messages by which the system and language runtimes report a shortage of resources.
const SHORTAGES: [&str; 9] = [
    "Too many open files",
    "Cannot allocate memory",
    "No space left on device",
    "Resource temporarily unavailable",
    "can't start new thread",
    "MemoryError",
    "EMFILE",
    "EAGAIN",
    // The dynamic loader reports some shortages only by number.
    "error while loading shared libraries",
];

/// Whether the output of a program reports a shortage of resources. An interpreter that does not find a file of the SDK could
/// not open it: the file exists, because each start makes sure of that.
pub(crate) fn tells_of_shortage(said: &str) -> bool {
    SHORTAGES.iter().any(|shortage| said.contains(shortage))
        || languages().any(|language| language.sdk_not_found.iter().all(|part| said.contains(part)))
}

/// Whether a process could not be started for a temporary reason.
pub(crate) fn start_passes(error: &StartError) -> bool {
    match error {
        StartError::Spawn { source, .. }
        | StartError::SideChannel(source)
        | StartError::Questions(source) => is_shortage(source),
        StartError::Confinement(why) => tells_of_shortage(why),
    }
}

impl ScriptError {
    /// Why there is no worker to ask.
    pub(crate) fn into_unanswered(self) -> Unanswered {
        let passes = match &self {
            Self::NoEnvironment(NoEnvironment::Sdk(_)) | Self::NoRoom { .. } => true,
            other => tells_of_shortage(&other.to_string()),
        };
        Unanswered { why: self.to_string(), passes }
    }
}

impl Failed {
    /// Why a provider with this outcome has not answered.
    pub(crate) fn into_unanswered(self) -> Unanswered {
        let passes = match &self {
            Self::Signalled { .. } | Self::TimedOut { .. } | Self::NoRoom(_) => true,
            Self::Exited { said, .. } => tells_of_shortage(said),
            Self::OutputTooLarge { .. } | Self::Cancelled | Self::Shutdown => false,
        };
        Unanswered { why: self.to_string(), passes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_about_the_system_and_the_sdk_tell_of_a_shortage() {
        for said in [
            "OSError: [Errno 24] Too many open files: 'x'",
            "sh: error while loading shared libraries: libc.so.6: cannot open shared object file: Error 24",
            "Cannot find module '/c/sdk/node/lib/a.mjs' imported from /c/sdk/node/worker.mjs",
        ] {
            assert!(tells_of_shortage(said), "{said}");
        }
        for said in ["Cannot find module '/p/tools/a.mjs'", "No module named 'mcp_bash.none'", "SyntaxError"]
        {
            assert!(!tells_of_shortage(said), "{said}");
        }
    }
}
