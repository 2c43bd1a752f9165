//! Settings of identity that cannot work are refused at the start, with the next step.

use crate::harness::http::HttpServer;
use crate::harness::{Project, Server};

fn refused(arguments: &[&str], settings: &[(&str, &str)]) -> String {
    let started = HttpServer::try_start_by(Server::command(), Project::with_hi().root(), arguments, settings);
    started.err().unwrap_or_else(|| panic!("it starts with {arguments:?} {settings:?}"))
}

// Shows: auth-https
#[test]
fn what_cannot_work_is_refused_with_the_next_step() {
    let issuer = ["--issuer", "https://login.example.com", "--resource", "https://mcp.example.com/mcp"];
    for (arguments, settings, said) in [
        (&issuer[..2], &[][..], "add `--resource URL`"),
        (&issuer[2..], &[], "add `--issuer URL`"),
        (&["--issuer", "http://login.example.com", "--resource", issuer[3]], &[], "write `https://"),
        (&["--issuer", issuer[1], "--resource", "mcp.example.com"], &[], "--resource: `mcp.example.com`"),
        (&["--issuer", issuer[1], "--resource", "https://h/mcp?x"], &[], "--resource"),
        (&issuer, &[("MCPBASH_HTTP_SCOPE_HIERARCHY", "admin")], "write the wider one first"),
        (&issuer, &[("MCPBASH_HTTP_REQUIRED_SCOPES", "a\\b")], "is no scope"),
        (&issuer, &[("MCPBASH_HTTP_INTROSPECTION_URL", "https://h")], "MCPBASH_HTTP_INTROSPECTION_SECRET"),
        (&issuer, &[("MCPBASH_HTTP_TOKEN_HEADER", "a b")], "is no name of a header"),
        (
            &[&issuer[..], &["--issuer", "https://other.example"]].concat(),
            &[("MCPBASH_HTTP_JWKS_URL", "https://h/keys")],
            "name one issuer",
        ),
        (&["--client-ca", "ca.pem"], &[], "add `--tls-cert FILE`"),
        (&[], &[("MCPBASH_HTTP_PROXY_HEADER", "X-User")], "MCPBASH_HTTP_PROXY_USERS"),
        (&[], &[("MCPBASH_HTTP_PROXY_KEY", "/key")], "MCPBASH_HTTP_PROXY_HEADER"),
        (
            &[],
            &[("MCPBASH_HTTP_PROXY_HEADER", "X-User"), ("MCPBASH_HTTP_PROXY_USERS", "www-data")],
            "`www-data` is no user id",
        ),
    ] {
        let words = refused(arguments, settings);
        assert!(words.contains(said), "{arguments:?} {settings:?}: {words}");
    }
}
