//! Caller identity. This is the only place that decides who the caller is: its rights, its running calls and its parked
//! calls belong to the name found here.

mod anonymous;
mod bearer;
mod identity_source;
mod token_edit;
mod token_file;
mod tokens;
pub(in crate::http) mod visitor;

pub(crate) use identity_source::IdentitySource;
pub use token_edit::{TokenEditError, add_token, read_tokens, remove_token};
pub use token_file::{Grant, NameList, NewTokenError, TokenFileError, TokenLine, TokenText};
pub use tokens::TokensError;

use crate::http::identity::visitor::Visitor;
use crate::http::limits::rate::Rate;
use http::{HeaderMap, HeaderValue};
use mcp_bash_server::Identity;
use std::sync::Arc;

/// A way to find out who the caller is. One that has to ask elsewhere, such as the issuer of a token, may wait; one that
/// knows its callers returns a future that is ready, and costs nothing more than a function.
trait Identify: Send + Sync {
    /// Who makes the request with these headers, over a connection of that visitor.
    fn identify(
        &self,
        headers: &HeaderMap,
        visitor: &Visitor,
    ) -> impl Future<Output = Result<Identified, Unidentified>> + Send;
}

/// A caller that is known.
#[derive(Debug, Clone)]
pub(crate) struct Identified {
    pub(crate) identity: Arc<Identity>,
    /// Its own request rate, where it has one.
    pub(crate) rate: Option<Rate>,
}

/// A request that does not say who makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unidentified {
    /// The value of `WWW-Authenticate`.
    pub(crate) challenge: HeaderValue,
    /// Whether that peer has guessed too often lately: its answer should wait, and nobody needs to be told again.
    pub(crate) throttled: bool,
}
