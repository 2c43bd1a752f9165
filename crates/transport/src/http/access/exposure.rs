//! Exposure checks: refuse to start a server that unknown callers could use, or that would receive tokens unencrypted.

use crate::http::limits::options::Options;
use crate::http::listen::Listener;
use std::net::SocketAddr;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Exposed {
    #[error(
        "`{0}` can be reached from other machines, and everybody there could run the tools; give `--tokens FILE` \
         (`mcp-bash token new NAME --file FILE` makes one), `--issuer URL` or `--client-ca FILE`, or serve on this machine alone with `--http 127.0.0.1:PORT`"
    )]
    NoAuthentication(SocketAddr),
    #[error(
        "`{0}` can be reached from other machines, and tokens would travel there unencrypted; give `--tls-cert FILE` and \
         `--tls-key FILE`, or say `--behind-proxy` if a proxy that all callers pass speaks TLS with them"
    )]
    PlainText(SocketAddr),
}

/// Refuses options that expose the server.
pub(crate) fn check(options: &Options, listeners: &[Listener]) -> Result<(), Exposed> {
    let Some(wide) = listeners.iter().find_map(Listener::wide_address) else { return Ok(()) };
    if !options.identify_callers() {
        return Err(Exposed::NoAuthentication(wide));
    }
    if options.tls.is_none() && !options.behind_proxy {
        return Err(Exposed::PlainText(wide));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::limits::options::TlsFiles;
    use crate::http::listen::Address;

    fn checked(address: &str, options: &Options) -> Result<(), Exposed> {
        check(options, &Listener::open(&Address::parse(address).unwrap()).unwrap())
    }

    #[tokio::test]
    async fn a_wide_address_needs_tokens_and_encryption() {
        let bare = Options::default();
        let tokens = Options { tokens: Some("tokens".into()), ..bare.clone() };
        let files = TlsFiles { certificate: "cert".into(), key: "key".into(), clients: None };
        let tls = Options { tls: Some(files), ..bare.clone() };
        let proxied = Options { behind_proxy: true, ..bare.clone() };
        for options in [&bare, &tokens, &tls] {
            assert_eq!(checked("127.0.0.1:0", options), Ok(()));
        }
        for options in [&bare, &tls, &proxied] {
            assert!(matches!(checked("0.0.0.0:0", options), Err(Exposed::NoAuthentication(_))));
        }
        assert!(matches!(checked("0.0.0.0:0", &tokens), Err(Exposed::PlainText(_))));
        assert_eq!(checked("0.0.0.0:0", &Options { tls: tls.tls.clone(), ..tokens.clone() }), Ok(()));
        assert_eq!(checked("0.0.0.0:0", &Options { behind_proxy: true, ..tokens }), Ok(()));
    }
}
