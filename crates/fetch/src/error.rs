//! Fetch errors: why something was not fetched.

use crate::hosts::UrlError;
use mcp_bash_budget::NoRoom;
use mcp_bash_uri::{DecodeError, FileUriError};
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("no folder is open for reading; name one in `MCP_RESOURCES_ROOTS`")]
    NoRoots,
    #[error("`{}` is outside the folders that may be read; name its folder in `MCP_RESOURCES_ROOTS`", .0.display())]
    Outside(PathBuf),
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    #[error("`{}` is {what} and not a regular file", path.display())]
    NotAFile { path: PathBuf, what: &'static str },
    #[error("failed to read `{}`: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error(transparent)]
    FileUri(#[from] FileUriError),
    #[error("the payload of the echo URI cannot be read: {0}")]
    Echo(#[from] DecodeError),
    #[error("it is larger than {limit} bytes; raise `{setting}` if that is expected")]
    TooLarge { limit: u64, setting: &'static str },

    #[error("`{url}` cannot be fetched: {error}")]
    Url { url: String, error: UrlError },
    #[error("no host may be reached; name those that may in `{setting}`")]
    NoAllowedHosts { setting: &'static str },
    #[error("the host `{host}` is not in `{setting}`; add it there if it may be reached")]
    NotAllowed { host: String, setting: &'static str },
    #[error("the host `{host}` is in `{setting}`")]
    Denied { host: String, setting: &'static str },
    #[error("`{host}` is at {address}, which is {what}; only public addresses are reached")]
    NotPublic { host: String, address: IpAddr, what: &'static str },

    #[error("`{host}` has no address: {error}")]
    Unresolved { host: String, error: io::Error },
    #[error("`{host}` cannot be reached: {error}")]
    Unreachable { host: String, error: io::Error },
    #[error(
        "no certificate of the system can be read, so that no server can be trusted; install `ca-certificates`"
    )]
    NoCertificates,
    #[error("`{host}` does not speak HTTP as it should: {error}")]
    Protocol { host: String, error: hyper::Error },
    #[error("`{host}` did not answer completely within {} s; raise `{setting}` if it is slow", within.as_secs())]
    TimedOut { host: String, within: Duration, setting: &'static str },
    #[error("`{host}` did not answer within {} s", within.as_secs())]
    NoAnswer { host: String, within: Duration },
    #[error("`{host}` sent more than {limit} bytes")]
    TooLong { host: String, limit: u64 },
    #[error("`{host}` answered with status {status}")]
    Status { host: String, status: u16 },
    #[error("`{host}` redirects ({status}){}; ask for that address instead", to(.location.as_deref()))]
    Redirect { host: String, status: u16, location: Option<String> },
    #[error("`{host}` sent its answer in the encoding `{encoding}`, which was not asked for")]
    Encoded { host: String, encoding: String },

    #[error("repositories are not read; set `MCPBASH_ENABLE_GIT_PROVIDER=true` to read them")]
    GitDisabled,
    #[error("`{uri}` does not name a file of a repository: {reason}")]
    GitUri { uri: String, reason: &'static str },
    #[error("git cannot be used: {0}")]
    GitUnusable(String),
    #[error("the disk has less than {needed_kb} KB free, which a repository may need")]
    NoSpace { needed_kb: u64 },
    #[error("git failed to {task}: {words}")]
    Git { task: &'static str, words: String },
    #[error(transparent)]
    NoRoom(NoRoom),
    #[error("`{path}` is not a file of the repository{}", because(.why))]
    NotInRepository { path: String, why: &'static str },
}

/// The kinds that a caller has to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is malformed.
    Invalid,
    /// It is not allowed.
    Refused,
    Missing,
    TooLarge,
    Redirect,
    /// The machine or the network failed, which may be different another time.
    Failed,
}

impl FetchError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Url { error, .. } if error.is_refusal() => ErrorKind::Refused,
            Self::Url { .. } | Self::FileUri(_) | Self::Echo(_) | Self::GitUri { .. } => ErrorKind::Invalid,
            Self::NoRoots
            | Self::Outside(_)
            | Self::NotAFile { .. }
            | Self::NoAllowedHosts { .. }
            | Self::NotAllowed { .. }
            | Self::Denied { .. }
            | Self::NotPublic { .. }
            | Self::GitDisabled => ErrorKind::Refused,
            Self::Missing(_) | Self::NotInRepository { .. } => ErrorKind::Missing,
            Self::TooLarge { .. } | Self::TooLong { .. } => ErrorKind::TooLarge,
            Self::Redirect { .. } => ErrorKind::Redirect,
            Self::Unreadable { .. }
            | Self::Unresolved { .. }
            | Self::Unreachable { .. }
            | Self::NoCertificates
            | Self::Protocol { .. }
            | Self::TimedOut { .. }
            | Self::NoAnswer { .. }
            | Self::Status { .. }
            | Self::Encoded { .. }
            | Self::GitUnusable(_)
            | Self::NoSpace { .. }
            | Self::NoRoom(_)
            | Self::Git { .. } => ErrorKind::Failed,
        }
    }

    /// Whether the same request may succeed a little later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unresolved { .. }
            | Self::Unreachable { .. }
            | Self::Protocol { .. }
            | Self::TimedOut { .. }
            | Self::NoAnswer { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
            _ => false,
        }
    }
}

fn to(location: Option<&str>) -> String {
    location.map(|location| format!(" to `{location}`")).unwrap_or_default()
}

fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}
