//! Read failures: why a resource could not be read.

use mcp_bash_fetch::{ErrorKind, FetchError};
use mcp_bash_scripts::{ScriptError, Unread};
use mcp_bash_wire::{Revision, RpcError, code};

#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no such resource; with the message of its provider.
    Missing(Option<String>),
    /// The URI is invalid for its provider, or may not be read.
    Invalid(String),
    /// It could not be read now; it might be later, or with other settings.
    Failed(String),
    /// The read timed out.
    TimedOut(String),
}

impl Failure {
    /// The error that a client of `revision` receives.
    pub(crate) fn told(self, revision: Revision, uri: &str) -> RpcError {
        match self {
            Self::Missing(said) => {
                let error = RpcError::resource_not_found(revision, uri);
                match said {
                    Some(said) => RpcError { message: format!("{}: {said}", error.message).into(), ..error },
                    None => error,
                }
            }
            Self::Invalid(why) => RpcError::invalid_params(format!("Invalid resource: {why}")),
            Self::Failed(why) | Self::TimedOut(why) => {
                RpcError::internal(format!("Resource cannot be read: {why}"))
            }
        }
    }
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        match error.kind() {
            ErrorKind::Missing => Self::Missing(None),
            // The operator decides which files may be read; the author chooses hosts.
            ErrorKind::Refused if matches!(error, FetchError::NoRoots | FetchError::Outside(_)) => {
                Self::Failed(error.to_string())
            }
            ErrorKind::Invalid | ErrorKind::Refused => Self::Invalid(error.to_string()),
            ErrorKind::TooLarge | ErrorKind::Redirect | ErrorKind::Failed => Self::Failed(error.to_string()),
        }
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        match error {
            ScriptError::Unread(Unread::Missing(said)) => Self::Missing(said),
            ScriptError::Unread(Unread::Invalid(why)) => Self::Invalid(why),
            ScriptError::Answered { code: code::RESOURCE_NOT_FOUND, message, .. } => {
                Self::Missing(Some(message))
            }
            ScriptError::Answered { code: code::INVALID_PARAMS, message, .. } => Self::Invalid(message),
            ScriptError::Distrusted { source, .. } => Self::Failed(source.to_string()),
            other if other.is_timeout() => Self::TimedOut(other.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}
