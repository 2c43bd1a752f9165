//! Tokens of an issuer: good ones name their caller, all others are refused with a challenge.

use super::issuer::{Issuer, RESOURCE, Signer, encoded, now, unsigned};
use crate::harness::Project;
use crate::harness::http::{HttpServer, Response, post, request, stateless_message, stateless_with};
use ring::hmac;
use serde_json::{Value, json};

/// A server that accepts tokens of the issuer.
pub(super) fn serve(project: &Project, issuer: &Issuer, settings: &[(&str, &str)]) -> HttpServer {
    let url = issuer.url();
    HttpServer::start_with(project.root(), &["--issuer", &url, "--resource", RESOURCE], settings)
}

pub(super) fn call(server: &HttpServer, token: &str, tool: &str) -> Response {
    let bearer = format!("Bearer {token}");
    let params = json!({ "name": tool, "arguments": {} });
    server.send(&stateless_with(&[("Authorization", &bearer)], 1, "tools/call", &params))
}

pub(super) fn text(response: &Response) -> String {
    let answer = response.json();
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The status and the challenge of a list with these headers, from an address of its own: who guesses is slowed down.
fn refusal(server: &HttpServer, from: u8, headers: &[(&str, &str)]) -> (u16, String) {
    let mut http = server.connect_from([127, 0, 1, from]);
    http.send(&stateless_with(headers, 1, "tools/list", &json!({})));
    let response = http.response();
    (response.status, response.header("WWW-Authenticate").unwrap_or_default().to_owned())
}

// Shows: auth-no-passthrough
#[test]
fn scripts_see_who_calls_and_nothing_of_the_token() {
    let key = Signer::new("1");
    let issuer = Issuer::start(&[&key]);
    let script =
        "#!/bin/sh\necho \"$MCP_CALLER\"\necho \"$MCP_CALLER_GROUPS\"\necho \"$MCP_CALLER_CLAIMS\"\nenv\n";
    let project = Project::new().tool("who", script);
    let settings = [("MCPBASH_HTTP_GROUPS_CLAIM", "groups"), ("MCPBASH_HTTP_PASSED_CLAIMS", "email,missing")];
    let server = serve(&project, &issuer, &settings);
    let token = key.token(&issuer.claims());
    let said = text(&call(&server, &token, "who"));
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some(&*format!("{} alice", issuer.url())));
    assert_eq!((lines.next(), lines.next()), (Some("dev"), Some("ops")));
    let claims: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(claims, json!({ "email": "alice@example.com" }));
    for part in token.split('.') {
        assert!(!said.contains(part), "{said}");
    }
    assert!(!server.log().contains(token.split('.').nth(2).unwrap()));
}

// Shows: auth-challenge, auth-validated, auth-audience, auth-query
#[test]
fn every_other_token_is_refused_with_a_challenge() {
    let (key, other) = (Signer::new("1"), Signer::new("1"));
    let issuer = Issuer::start(&[&key]);
    let project = Project::with_hi();
    let server = serve(&project, &issuer, &[]);
    let good = issuer.claims();
    let header = json!({ "alg": "ES256", "kid": "1" });
    let none = unsigned(&json!({ "alg": "none" }), &good);
    let shared = unsigned(&json!({ "alg": "HS256", "kid": "1" }), &good);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.public_bytes()), shared.as_bytes());
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        key.token(&claims)
    };
    let cases = [
        (key.token(&issuer.claims_with("exp", now() - 100)), "the token has expired"),
        (key.token(&issuer.claims_with("nbf", now() + 100)), "the token is not valid yet"),
        (
            key.token(&issuer.claims_with("aud", "https://other.example/mcp")),
            "the token was issued for another server",
        ),
        (
            key.token(&issuer.claims_with("iss", "https://evil.example")),
            "the issuer of the token is not trusted here",
        ),
        (key.token(&issuer.claims_with("sub", "a\nb")), "the token has no usable claim"),
        (without("exp"), "the token has no usable claim `exp`"),
        (without("aud"), "the token has no usable claim `aud`"),
        (format!("{none}."), "the algorithm of the token is not accepted"),
        (format!("{shared}.{}", encoded(tag)), "the algorithm of the token is not accepted"),
        (other.token(&good), "the signature of the token is wrong"),
        (
            key.token_with(&json!({ "alg": "ES256", "kid": "2" }), &good),
            "the key of the token is not one of its issuer",
        ),
        (
            key.token_with(&json!({ "alg": "ES256", "kid": "1", "typ": "oauth-id-jag+jwt" }), &good),
            "the type of the token",
        ),
        ("opaque".to_owned(), "the token is not a signed JSON Web Token"),
    ];
    for (number, (token, why)) in (1..).zip(&cases) {
        let (status, challenge) = refusal(&server, number, &[("Authorization", &format!("Bearer {token}"))]);
        assert_eq!(status, 401, "{why}: {challenge}");
        let expected =
            format!("Bearer realm=\"mcp-bash\", error=\"invalid_token\", error_description=\"{why}");
        assert!(challenge.starts_with(&expected), "{why}: {challenge}");
        assert!(
            challenge.contains("resource_metadata=\"https://mcp.example.com/.well-known/"),
            "{challenge}"
        );
    }
    let token = key.token_with(&header, &good);
    let bearer = format!("Bearer {token}");
    let (status, challenge) =
        refusal(&server, 100, &[("Authorization", &bearer), ("Authorization", &bearer)]);
    assert!(status == 401 && challenge.contains("error=\"invalid_request\""), "{challenge}");
    // A token in the address is none.
    let message = stateless_message(1, "tools/list", &json!({})).to_string();
    let in_query = String::from_utf8(post(&[], &message)).unwrap();
    let in_query = in_query.replacen("/mcp", &format!("/mcp?access_token={token}"), 1);
    assert_eq!(server.send(in_query.as_bytes()).status, 401);
    assert_eq!(refusal(&server, 101, &[("Authorization", &bearer)]).0, 200);
    assert_eq!(server.send(&request("GET", "/mcp", &[], b"")).status, 401);
}

#[test]
fn a_proxy_may_bring_the_token_in_a_header_of_its_own() {
    let key = Signer::new("1");
    let issuer = Issuer::start(&[&key]);
    let url = format!("{}/keys", issuer.url());
    let settings =
        [("MCPBASH_HTTP_TOKEN_HEADER", "Cf-Access-Jwt-Assertion"), ("MCPBASH_HTTP_JWKS_URL", url.as_str())];
    let project = Project::with_hi();
    let server = serve(&project, &issuer, &settings);
    let token = key.token(&issuer.claims());
    assert_eq!(refusal(&server, 1, &[("Cf-Access-Jwt-Assertion", &token)]).0, 200);
    assert_eq!(refusal(&server, 2, &[("Cf-Access-Jwt-Assertion", "forged")]).0, 401);
    assert_eq!(
        issuer.requests("/.well-known/openid-configuration"),
        0,
        "the operator said where the keys are"
    );
}

#[test]
fn a_stream_ends_when_its_token_expires() {
    let key = Signer::new("1");
    let (issuer, project) = (Issuer::start(&[&key]), Project::with_hi());
    let server = serve(&project, &issuer, &[]);
    let listen = |expires: u64| {
        let bearer = format!("Bearer {}", key.token(&issuer.claims_with("exp", expires)));
        let params = json!({ "notifications": { "toolsListChanged": true } });
        let mut http = server.connect();
        http.send(&stateless_with(&[("Authorization", &bearer)], 1, "subscriptions/listen", &params));
        let mut events = http.events();
        let acknowledged = events.next_message().expect("it is acknowledged").message();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
        events
    };
    // A minute of leeway is left to clocks, of which this one has spent the most.
    let (mut good, mut expiring) = (listen(now() + 300), listen(now() - 50));
    assert!(expiring.next_message().is_none());
    let _project = project.tool("new", "#!/bin/sh\n");
    assert_eq!(good.next_message().unwrap().message()["method"], "notifications/tools/list_changed");
}
