//! Setting words, and their meanings.

use crate::audit::RecordedArguments;
use crate::kind::Word;
use mcp_bash_audit::OnError;
use mcp_bash_sandbox::Mode as SandboxMode;

/// The meaning of a word for a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Minimal,
    Allowlist,
    Inherit,
}

pub(crate) const TOOL_MODES: Word<Mode> = Word {
    words: &[("minimal", Mode::Minimal), ("allowlist", Mode::Allowlist), ("inherit", Mode::Inherit)],
    synonyms: &[],
    instead: None,
};

pub(crate) const PROVIDER_MODES: Word<Mode> = Word {
    words: &[("isolate", Mode::Minimal), ("allowlist", Mode::Allowlist), ("inherit", Mode::Inherit)],
    synonyms: &[],
    instead: None,
};

/// Whether tools may run if there is no list. What was meant as a restriction must not end as none.
pub(crate) const ALLOW_OR_DENY: Word<bool> = Word {
    words: &[("allow", true), ("deny", false)],
    synonyms: &[("all", true)],
    instead: Some(("deny", false)),
};

/// How much of a sandbox every script has. A word that is not known was meant to restrict.
pub(crate) const SANDBOX_MODES: Word<SandboxMode> = Word {
    words: &[("off", SandboxMode::Off), ("on", SandboxMode::On), ("strict", SandboxMode::Strict)],
    synonyms: &[],
    instead: Some(("strict", SandboxMode::Strict)),
};

/// What the audit log has of arguments. A word that is not known must not put them all there.
pub(crate) const RECORDED_ARGUMENTS: Word<RecordedArguments> = Word {
    words: &[
        ("hash", RecordedArguments::Hash),
        ("full", RecordedArguments::Full),
        ("none", RecordedArguments::Nothing),
    ],
    synonyms: &[],
    instead: None,
};

/// What happens to calls while the audit log cannot be written. A word that is not known was meant to say something about
/// failures, and to refuse is the safe meaning.
pub(crate) const ON_AUDIT_ERROR: Word<OnError> = Word {
    words: &[("refuse", OnError::Refuse), ("continue", OnError::Continue)],
    synonyms: &[],
    instead: Some(("refuse", OnError::Refuse)),
};
