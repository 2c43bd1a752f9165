//! Identity settings: how callers are recognised over HTTP besides tokens of a file.

use crate::reader::Reader;
use crate::table;
use crate::words::ClientName;
use std::path::PathBuf;

/// URLs, headers and scopes are texts here; the transport parses them.
#[derive(Debug, Clone)]
pub struct IdentitySettings {
    pub resource: Option<String>,
    pub issuers: Vec<String>,
    pub audiences: Vec<String>,
    pub required_scopes: Vec<String>,
    pub scope_hierarchy: Vec<String>,
    pub name_claim: String,
    pub groups_claim: Option<String>,
    pub passed_claims: Vec<String>,
    pub key_set_url: Option<String>,
    pub introspection_url: Option<String>,
    pub introspection_client: Option<String>,
    pub introspection_secret: Option<PathBuf>,
    pub token_header: Option<String>,
    pub client_authorities: Option<PathBuf>,
    pub revoked_clients: Option<PathBuf>,
    pub are_client_certificates_optional: bool,
    pub client_name: ClientName,
    pub proxy_header: Option<String>,
    pub proxy_groups_header: Option<String>,
    pub proxy_users: Vec<String>,
    pub proxy_certificates: Vec<String>,
    pub proxy_key: Option<PathBuf>,
}

impl IdentitySettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        Self {
            resource: reader.value(&table::HTTP_RESOURCE),
            issuers: reader.value(&table::HTTP_ISSUERS),
            audiences: reader.value(&table::HTTP_AUDIENCES),
            required_scopes: reader.value(&table::HTTP_REQUIRED_SCOPES),
            scope_hierarchy: reader.value(&table::HTTP_SCOPE_HIERARCHY),
            name_claim: reader.value(&table::HTTP_NAME_CLAIM),
            groups_claim: reader.value(&table::HTTP_GROUPS_CLAIM),
            passed_claims: reader.value(&table::HTTP_PASSED_CLAIMS),
            key_set_url: reader.value(&table::HTTP_JWKS_URL),
            introspection_url: reader.value(&table::HTTP_INTROSPECTION_URL),
            introspection_client: reader.value(&table::HTTP_INTROSPECTION_CLIENT),
            introspection_secret: reader.value(&table::HTTP_INTROSPECTION_SECRET),
            token_header: reader.value(&table::HTTP_TOKEN_HEADER),
            client_authorities: reader.value(&table::HTTP_CLIENT_CA),
            revoked_clients: reader.value(&table::HTTP_CLIENT_CRL),
            are_client_certificates_optional: reader.value(&table::HTTP_CLIENT_CERTS),
            client_name: reader.value(&table::HTTP_CLIENT_NAME),
            proxy_header: reader.value(&table::HTTP_PROXY_HEADER),
            proxy_groups_header: reader.value(&table::HTTP_PROXY_GROUPS_HEADER),
            proxy_users: reader.value(&table::HTTP_PROXY_USERS),
            proxy_certificates: reader.value(&table::HTTP_PROXY_CERTIFICATES),
            proxy_key: reader.value(&table::HTTP_PROXY_KEY),
        }
    }
}
