//! OAuth errors: why a token, a key set, a document or a scope is refused.

/// Why a token is refused. The words are sent to the client, and repeat nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the token is too long")]
    TooLong,
    #[error("the token is not a signed JSON Web Token")]
    NotSigned,
    #[error("the algorithm of the token is not accepted")]
    Algorithm,
    #[error("the type of the token is not that of an access token")]
    Type,
    #[error("the token needs an extension that this server does not know")]
    Critical,
    #[error("the key of the token is not one of its issuer")]
    UnknownKey,
    #[error("the signature of the token is wrong")]
    Signature,
    #[error("the claims of the token cannot be read")]
    Claims,
    #[error("the token has no usable claim `{0}`")]
    Missing(&'static str),
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    NotYetValid,
    #[error("the token was issued in the future")]
    FromTheFuture,
    #[error("the issuer of the token is not trusted here")]
    Issuer,
    #[error("the token was issued for another server")]
    Audience,
    #[error("the issuer says that the token is not active")]
    NotActive,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeySetError {
    #[error("it is not a JSON object with a list `keys`")]
    NotAKeySet,
    #[error("it has {0} keys, more than {most}", most = crate::key_set::MOST_KEYS)]
    TooMany(usize),
    #[error(
        "none of its keys can verify a token; signing keys of RSA (2048 bits or more), P-256, P-384 or Ed25519 can"
    )]
    NoUsableKey,
}

/// Why the metadata of an issuer, or its answer about a token, is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    #[error("it is not a JSON object")]
    NotAnObject,
    #[error("it is about the issuer `{0}`; the names must be equal to the letter")]
    OtherIssuer(String),
    #[error("it names no issuer")]
    NoIssuer,
    #[error("it has no `{0}`")]
    Missing(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    #[error("`{0}` is no scope; a scope has printable ASCII characters other than blanks, `\"` and `\\`")]
    NotAScope(String),
    #[error("`{0}` names one scope only; write the wider one first: `files:write>files:read`")]
    NoChain(String),
}
