//! Identity of callers over HTTP: its flags, and the options that they and the settings result in.

use mcp_bash_settings::{ClientName, IdentitySettings};
use mcp_bash_transport::http::{
    CertificateName, ClientCertificates, IntrospectionOptions, IssuerOptions, ProxyOptions,
};
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Over HTTP")]
#[group(skip)]
pub(crate) struct IdentityArguments {
    /// Accept tokens of this OAuth issuer; may be repeated
    #[arg(long, value_name = "URL", requires = "http")]
    issuer: Vec<String>,

    /// The public URL of the server, for which tokens must be issued: `https://mcp.example.com/mcp`
    #[arg(long, value_name = "URL", requires = "http")]
    resource: Option<String>,

    /// Require a client certificate that these authorities have issued (PEM)
    #[arg(long, value_name = "FILE", requires = "http")]
    client_ca: Option<PathBuf>,
}

/// Settings that need each other.
#[derive(Debug, Error)]
pub(crate) enum WrongIdentity {
    #[error(
        "there is an issuer, and tokens must be issued for this server; add `--resource URL`, its public URL such as `https://mcp.example.com/mcp`"
    )]
    NoResource,
    #[error("there is a public URL and no issuer; add `--issuer URL`, or leave out `--resource`")]
    NoIssuer,
    #[error(
        "MCPBASH_HTTP_INTROSPECTION_URL needs MCPBASH_HTTP_INTROSPECTION_CLIENT and MCPBASH_HTTP_INTROSPECTION_SECRET, and they need it"
    )]
    HalfIntrospection,
    #[error("client certificates are part of TLS; add `--tls-cert FILE` and `--tls-key FILE`")]
    NoTls,
    #[error("MCPBASH_HTTP_PROXY_USERS: `{0}` is no user id; write the number that `id -u USER` shows")]
    User(String),
    #[error("{0} is set, and MCPBASH_HTTP_PROXY_HEADER is not; set it to the header that names the caller")]
    NoProxyHeader(&'static str),
}

impl IdentityArguments {
    pub(crate) fn issuer(&self, settings: &IdentitySettings) -> Result<Option<IssuerOptions>, WrongIdentity> {
        let issuers = [&self.issuer[..], &settings.issuers].concat();
        let resource = self.resource.clone().or_else(|| settings.resource.clone());
        let introspection = introspection(settings)?;
        if issuers.is_empty() {
            let is_half = resource.is_some() || introspection.is_some();
            return if is_half { Err(WrongIdentity::NoIssuer) } else { Ok(None) };
        }
        Ok(Some(IssuerOptions {
            resource: resource.ok_or(WrongIdentity::NoResource)?,
            issuers,
            audiences: settings.audiences.clone(),
            required_scopes: settings.required_scopes.clone(),
            scope_hierarchy: settings.scope_hierarchy.clone(),
            name_claim: settings.name_claim.clone(),
            groups_claim: settings.groups_claim.clone(),
            passed_claims: settings.passed_claims.clone(),
            key_set_url: settings.key_set_url.clone(),
            introspection,
            token_header: settings.token_header.clone(),
        }))
    }

    /// Whose client certificates are accepted, on a server that has TLS or not.
    pub(crate) fn clients(
        &self,
        settings: &IdentitySettings,
        has_tls: bool,
    ) -> Result<Option<ClientCertificates>, WrongIdentity> {
        let Some(authorities) = self.client_ca.as_ref().or(settings.client_authorities.as_ref()) else {
            return Ok(None);
        };
        if !has_tls {
            return Err(WrongIdentity::NoTls);
        }
        Ok(Some(ClientCertificates {
            authorities: authorities.clone(),
            revoked: settings.revoked_clients.clone(),
            is_optional: settings.are_client_certificates_optional,
            name: match settings.client_name {
                ClientName::CommonName => CertificateName::CommonName,
                ClientName::Uri => CertificateName::Uri,
                ClientName::Email => CertificateName::Email,
                ClientName::Dns => CertificateName::Dns,
            },
        }))
    }
}

fn introspection(settings: &IdentitySettings) -> Result<Option<IntrospectionOptions>, WrongIdentity> {
    let (url, client) = (&settings.introspection_url, &settings.introspection_client);
    match (url, client, &settings.introspection_secret) {
        (None, None, None) => Ok(None),
        (Some(url), Some(client_id), Some(secret)) => Ok(Some(IntrospectionOptions {
            url: url.clone(),
            client_id: client_id.clone(),
            client_secret: secret.clone(),
        })),
        _ => Err(WrongIdentity::HalfIntrospection),
    }
}

/// The proxy that names callers, if there is one.
pub(crate) fn proxy(settings: &IdentitySettings) -> Result<Option<ProxyOptions>, WrongIdentity> {
    let Some(name_header) = settings.proxy_header.clone() else {
        let lost = [
            ("MCPBASH_HTTP_PROXY_GROUPS_HEADER", settings.proxy_groups_header.is_some()),
            ("MCPBASH_HTTP_PROXY_USERS", !settings.proxy_users.is_empty()),
            ("MCPBASH_HTTP_PROXY_CERTIFICATES", !settings.proxy_certificates.is_empty()),
            ("MCPBASH_HTTP_PROXY_KEY", settings.proxy_key.is_some()),
        ];
        let lost = lost.into_iter().find(|(_, is_set)| *is_set);
        return lost.map_or(Ok(None), |(name, _)| Err(WrongIdentity::NoProxyHeader(name)));
    };
    let user = |user: &String| user.parse().map_err(|_| WrongIdentity::User(user.clone()));
    Ok(Some(ProxyOptions {
        name_header,
        groups_header: settings.proxy_groups_header.clone(),
        users: settings.proxy_users.iter().map(user).collect::<Result<_, _>>()?,
        certificates: settings.proxy_certificates.clone(),
        key: settings.proxy_key.clone(),
    }))
}
