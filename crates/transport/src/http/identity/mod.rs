//! Caller identity. This is the only place that decides who the caller is: its rights, its running calls and its parked
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

/// Why callers cannot be identified as the operator wants.
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

/// A caller that is known.
#[derive(Debug, Clone)]
pub(crate) struct Identified {
    pub(crate) identity: Arc<Identity>,
    /// Its own request rate, where it has one.
    pub(crate) rate: Option<Rate>,
}

/// A request whose caller is not known, or may not make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unidentified {
    /// It shows no token, or a wrong one. This is the value of `WWW-Authenticate`.
    Unauthorized(HeaderValue),
    /// Its token is good, and does not allow this.
    TooFewScopes(HeaderValue),
    /// Its peer has guessed too often lately.
    Throttled,
    /// The issuer of its token does not answer.
    IssuerUnreachable,
    /// It is refused for another reason, which no token changes.
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
