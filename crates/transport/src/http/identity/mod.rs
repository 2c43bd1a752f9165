//! Caller identity: the only place that decides who the caller is. The rights of a caller, its running calls and its parked
//! calls belong to the name found here.

mod bearer;
mod caller_name;
mod identity_source;
mod issuer;
mod roles_file;
mod token_edit;
mod token_file;
mod tokens;
mod trusted_proxy;
pub(in crate::http) mod visitor;

pub(crate) use identity_source::IdentitySource;
pub(in crate::http) use issuer::ResourceMetadata;
pub use issuer::{IssuerError, KeysError, check_issuer};
pub(crate) use roles_file::rights;
pub use roles_file::{RolesFile, RolesFileError};
pub use token_edit::{TokenEditError, add_token, read_tokens, remove_token};
pub use token_file::{Grant, NameList, NewTokenError, TokenFileError, TokenLine, TokenText};
pub use tokens::TokensError;
pub(crate) use trusted_proxy::Head;
pub use trusted_proxy::ProxyError;

use http::HeaderValue;
use mcp_bash_roles::Rate;
use mcp_bash_server::{AuditReason, Identity};
use std::sync::Arc;

/// Why the identity source cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error(transparent)]
    Tokens(#[from] TokensError),
    #[error(transparent)]
    Issuer(#[from] IssuerError),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error("`{0}` is no name of a header; `MCPBASH_HTTP_TOKEN_HEADER` names the one that brings the token")]
    TokenHeader(String),
}

/// An identified caller.
#[derive(Debug, Clone)]
pub(crate) struct Identified {
    pub(crate) identity: Arc<Identity>,
    /// Its own request rate, if it has one.
    pub(crate) rate: Option<Rate>,
}

/// Why a caller was not identified, or may not make the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unidentified {
    /// No token, or a wrong one. The value of `WWW-Authenticate`.
    Unauthorized(HeaderValue),
    /// The token is valid, but lacks required scopes. The value of `WWW-Authenticate`.
    TooFewScopes(HeaderValue),
    /// The peer has sent too many wrong tokens lately.
    Throttled,
    /// The issuer of the token does not answer.
    IssuerUnreachable,
    /// Refused for a reason that no token changes.
    Forbidden(&'static str),
}

impl Unidentified {
    /// The reason in the audit log.
    pub(crate) fn reason(&self) -> AuditReason {
        match self {
            Self::Unauthorized(_) => AuditReason::Unauthenticated,
            Self::TooFewScopes(_) => AuditReason::Scopes,
            Self::Throttled => AuditReason::Throttled,
            Self::IssuerUnreachable => AuditReason::IssuerUnreachable,
            Self::Forbidden(_) => AuditReason::Forbidden,
        }
    }
}
