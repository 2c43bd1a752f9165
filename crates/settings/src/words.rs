//! Setting words, and their meanings.

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

/// Whether a project without `policy.yaml` is served. A word that is not known was meant to restrict.
pub(crate) const POLICY_MODES: Word<bool> = Word {
    words: &[("optional", false), ("required", true)],
    synonyms: &[],
    instead: Some(("required", true)),
};

/// The part of a client certificate that names the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientName {
    CommonName,
    Uri,
    Email,
    Dns,
}

pub(crate) const CLIENT_NAMES: Word<ClientName> = Word {
    words: &[
        ("cn", ClientName::CommonName),
        ("uri", ClientName::Uri),
        ("email", ClientName::Email),
        ("dns", ClientName::Dns),
    ],
    synonyms: &[],
    instead: None,
};

/// Whether a connection without a client certificate is accepted. A word that is not known was meant to restrict.
pub(crate) const REQUIRED_OR_OPTIONAL: Word<bool> = Word {
    words: &[("required", false), ("optional", true)],
    synonyms: &[],
    instead: Some(("required", false)),
};

/// How much of a sandbox every script has. A word that is not known was meant to restrict.
pub(crate) const SANDBOX_MODES: Word<SandboxMode> = Word {
    words: &[("off", SandboxMode::Off), ("on", SandboxMode::On), ("strict", SandboxMode::Strict)],
    synonyms: &[],
    instead: Some(("strict", SandboxMode::Strict)),
};

/// What the audit log has of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedArguments {
    /// A keyed hash of them.
    Hash,
    Full,
    Nothing,
}

/// A word that is not known must not put all arguments there.
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
