//! Identity options: ways to identify callers besides the token file.

use std::path::PathBuf;

/// Callers with a token of an OAuth issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerOptions {
    /// The public URL of the server, for which tokens must be issued.
    pub resource: String,
    /// The issuers whose tokens are accepted.
    pub issuers: Vec<String>,
    /// Audiences that are accepted besides the public URL.
    pub audiences: Vec<String>,
    /// Scopes that every request needs.
    pub required_scopes: Vec<String>,
    /// Chains such as `admin>files:write>files:read`.
    pub scope_hierarchy: Vec<String>,
    /// The claim that names the caller.
    pub name_claim: String,
    /// The claim that lists its groups.
    pub groups_claim: Option<String>,
    /// The claims that scripts receive.
    pub passed_claims: Vec<String>,
    /// The URL of the key set (JWKS), for an issuer that publishes no metadata.
    pub key_set_url: Option<String>,
    pub introspection: Option<IntrospectionOptions>,
    /// A header that carries the token in place of `Authorization`.
    pub token_header: Option<String>,
}

/// Token introspection, for opaque tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntrospectionOptions {
    pub url: String,
    pub client_id: String,
    /// The file of the client secret.
    pub client_secret: PathBuf,
}

/// Callers that a proxy names in a header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyOptions {
    /// The header with the name of the caller.
    pub name_header: String,
    /// The header with its groups, separated by commas.
    pub groups_header: Option<String>,
    /// The users (by id) whose processes may connect to a Unix socket as the proxy.
    pub users: Vec<u32>,
    /// The proxy's names in client certificates.
    pub certificates: Vec<String>,
    /// The file of the key with which the proxy signs the headers.
    pub key: Option<PathBuf>,
}

/// Callers with a client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificates {
    /// The file of the certificate authorities.
    pub authorities: PathBuf,
    /// The file of the revocation lists.
    pub revoked: Option<PathBuf>,
    /// Whether connections without a client certificate are accepted.
    pub is_optional: bool,
    /// Which part of a certificate names the caller.
    pub name: CertificateName,
}

/// The part of a certificate that names its owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CertificateName {
    /// The common name of the subject.
    #[default]
    CommonName,
    /// The URI among the alternative names, such as a SPIFFE id.
    Uri,
    /// The email address among the alternative names.
    Email,
    /// The DNS name among the alternative names.
    Dns,
}
