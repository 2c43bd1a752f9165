//! Reasons of failures and refusals, by the words that lines have.

/// Each reason and its word become a variant, and all of them together become a list: no line can have another word.
macro_rules! reasons {
    ($($(#[$about:meta])* $reason:ident = $word:literal,)*) => {
        /// Why a request failed or was refused: `error.type` of a line, if it is a word.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason {
            $($(#[$about])* $reason,)*
        }

        impl Reason {
            pub const ALL: &[Self] = &[$(Self::$reason),*];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$reason => $word,)*
                }
            }
        }
    };
}

reasons! {
    ToolError = "tool_error",
    InvalidArguments = "invalid_arguments",
    Timeout = "timeout",
    Rights = "rights",
    Policy = "policy",
    Consent = "consent",
    /// The shared secret is missing or wrong.
    Secret = "secret",
    UnknownTool = "unknown_tool",
    Busy = "busy",
    Rate = "rate",
    /// The audit log cannot be written.
    Audit = "audit",
    Unauthenticated = "unauthenticated",
    /// The peer has guessed too often lately.
    Throttled = "throttled",
    IssuerUnreachable = "issuer_unreachable",
    Forbidden = "forbidden",
    Host = "host",
    Origin = "origin",
    /// The tool or the policy changed while a user was asked.
    Changed = "changed",
    Scopes = "scopes",
    Session = "session",
    Certificate = "certificate",
    StateAltered = "state_altered",
    StateUsed = "state_used",
    StateExpired = "state_expired",
    StateOfAnotherCaller = "state_of_another_caller",
    StateOfAnotherCall = "state_of_another_call",
    StateGone = "state_gone",
}

/// What `error.type` of a line is: a word, or the code of a JSON-RPC error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Reason(Reason),
    Code(i32),
}

impl From<Reason> for Cause {
    fn from(reason: Reason) -> Self {
        Self::Reason(reason)
    }
}
