//! Callers over HTTP: how the settings let them be known, and whether issuers answer.

use super::diagnosis::Diagnosis;
use crate::report::Group;
use crate::report::finding::Finding;
use mcp_bash_settings::HttpSettings;
use mcp_bash_terminal::harmless_line;
use mcp_bash_transport::http::check_issuer;
use tokio::runtime::Builder;

/// Says nothing if nothing is set up.
pub(super) fn look(report: &mut Diagnosis, settings: &HttpSettings) {
    let identity = &settings.identity;
    let ways = [
        ("a trusted proxy", identity.proxy_header.is_some()),
        ("client certificates", identity.client_authorities.is_some()),
        ("tokens of a file", settings.tokens.is_some()),
        ("tokens of an issuer", !identity.issuers.is_empty()),
    ];
    let ways: Vec<&str> = ways.into_iter().filter(|(_, is_set)| *is_set).map(|(way, _)| way).collect();
    if ways.is_empty() {
        return;
    }
    let words = format!("callers are known by {}", ways.join(", "));
    let mut findings = vec![Finding::good("callers.known_by", words)];
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
    for issuer in &identity.issuers {
        let answered = runtime.block_on(check_issuer(issuer, identity.key_set_url.as_deref()));
        findings.push(match answered {
            Ok(()) => Finding::good(
                "callers.issuer",
                harmless_line(&format!("the issuer {issuer} answers, and has keys")),
            ),
            Err(error) => {
                let words = format!("the keys of the issuer {issuer} cannot be fetched: {error}");
                Finding::error("callers.issuer", harmless_line(&words))
            }
        });
    }
    report.add(Group::new("Callers over HTTP", findings));
}
