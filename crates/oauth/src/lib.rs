//! OAuth 2.1 resource server: JSON Web Tokens, key sets, scopes, challenges and metadata documents.
//!
//! # Theory of operation
//!
//! A token is parsed ([`Jws::parse`]), its signature is verified with the keys of its issuer ([`KeySet::verify`]), and its
//! claims are checked ([`Expected::check`]). What is left is a [`Grant`]: subject, scopes, claims and the time until which they hold.
//! An opaque token has no signature; the issuer's answer about it ([`introspection::read`]) passes the same checks.
//!
//! # Decisions
//!
//! - Everything is pure: bytes and a time go in, a verdict comes out. Fetching, caching and clocks belong to the caller.
//! - The algorithm comes from a list and must fit the key. There is no `none` and no HMAC in it, so that a public key can never
//!   be taken for a secret.
//! - A token without `exp` or `aud` is refused: it would be valid for ever, or for every server.
//! - Refusals are values. Their words never repeat a part of a token.

mod algorithm;
mod audience;
mod challenge;
mod claims;
mod error;
pub mod introspection;
mod issuer;
mod jws;
mod key_set;
mod resource_metadata;
mod scopes;
#[cfg(test)]
mod tests;

pub use algorithm::Algorithm;
pub use audience::is_same_resource;
pub use challenge::{Challenge, ChallengeError};
pub use claims::{Expected, Grant};
pub use error::{KeySetError, MetadataError, ScopeError, TokenError};
pub use issuer::{IssuerMetadata, metadata_urls};
pub use jws::Jws;
pub use key_set::{KeySet, NotVerified};
pub use resource_metadata::resource_metadata;
pub use scopes::{Hierarchy, is_scope, read_scopes};
