//! Tokens: the accepted ones, and forged, expired and foreign ones.

use super::signing::{SigningKey, encoded};
use crate::{Expected, Grant, Jws, KeySet, NotVerified, TokenError, introspection};
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;
const ISSUER: &str = "https://login.example.com/acme";

fn key_set(keys: &[Value]) -> KeySet {
    KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": "https://mcp.example.com/mcp", "sub": "alice", "exp": NOW + 300, "iat": NOW,
        "scope": "files:read files:write",
    })
}

fn changed(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

fn accept(token: &str, keys: &KeySet) -> Result<Grant, TokenError> {
    let token = Jws::parse(token.as_bytes())?;
    keys.verify(&token).map_err(|error| match error {
        NotVerified::UnknownKey => TokenError::UnknownKey,
        NotVerified::WrongSignature => TokenError::Signature,
    })?;
    let audiences = ["https://mcp.example.com/mcp".to_owned(), "api://app-id".to_owned()];
    Expected { issuer: ISSUER, audiences: &audiences, now: NOW }.check(token)
}

#[test]
fn each_algorithm_of_the_list_is_verified() {
    let keys = [
        (SigningKey::rsa(), &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"][..]),
        (SigningKey::curve("P-256"), &["ES256"]),
        (SigningKey::curve("P-384"), &["ES384"]),
        (SigningKey::edwards(), &["EdDSA", "Ed25519"]),
    ];
    let set = key_set(&[0, 1, 2, 3].map(|at: usize| keys[at].0.public(&at.to_string())));
    for (at, (key, algorithms)) in keys.iter().enumerate() {
        for algorithm in *algorithms {
            let header = json!({ "alg": algorithm, "kid": at.to_string(), "typ": "at+jwt" });
            let token = key.token(&header, &claims());
            let grant = accept(&token, &set).unwrap();
            assert_eq!(grant.scopes, ["files:read".into(), "files:write".into()], "{algorithm}");
            assert_eq!((grant.claims["sub"].as_str(), grant.expires), (Some("alice"), Some(NOW + 300)));
            // One changed bit of the claims, and the signature of another token.
            let other = key.token(&header, &changed("sub", json!("mallory")));
            let parts: Vec<&str> = token.split('.').collect();
            let payload = other.split('.').nth(1).unwrap();
            let forged = format!("{}.{payload}.{}", parts[0], parts[2]);
            assert_eq!(accept(&forged, &set), Err(TokenError::Signature), "{algorithm}");
        }
    }
}

#[test]
fn a_token_that_chooses_its_own_algorithm_is_refused() {
    let (rsa, curve) = (SigningKey::rsa(), SigningKey::curve("P-256"));
    let set = key_set(&[rsa.public("rsa"), curve.public("curve")]);
    let good = rsa.token(&json!({ "alg": "RS256", "kid": "rsa" }), &claims());
    let (_, payload) = good.split_once('.').unwrap();
    for name in ["none", "None", "NONE", "", "HS256", "HS384", "HS512", "rs256", "RS1", "ES256K", "RSA1_5"] {
        let header = encoded(json!({ "alg": name, "kid": "rsa" }).to_string());
        assert_eq!(accept(&format!("{header}.{payload}"), &set), Err(TokenError::Algorithm), "{name}");
        let bare = payload.split_once('.').unwrap().0;
        assert_eq!(accept(&format!("{header}.{bare}."), &set), Err(TokenError::Algorithm), "{name}");
    }
    // The name of a key of another kind leads to no key at all.
    let header = encoded(json!({ "alg": "RS256", "kid": "curve" }).to_string());
    assert_eq!(accept(&format!("{header}.{payload}"), &set), Err(TokenError::UnknownKey));
    // A key that comes with the token is not looked at.
    let own = SigningKey::curve("P-256");
    let header =
        json!({ "alg": "ES256", "kid": "own", "jwk": own.public("own"), "jku": "https://evil.example/keys" });
    assert_eq!(accept(&own.token(&header, &claims()), &set), Err(TokenError::UnknownKey));
}

#[test]
fn what_is_no_access_token_is_refused() {
    let key = SigningKey::edwards();
    let set = key_set(&[key.public("1")]);
    let header = |name: &str, value: Value| {
        let mut header = json!({ "alg": "EdDSA", "kid": "1" });
        header[name] = value;
        key.token(&header, &claims())
    };
    for kind in ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt"] {
        assert!(accept(&header("typ", json!(kind)), &set).is_ok(), "{kind}");
    }
    for kind in
        [json!("oauth-id-jag+jwt"), json!("logout+jwt"), json!("dpop+jwt"), json!(""), json!(1), json!(null)]
    {
        assert_eq!(accept(&header("typ", kind.clone()), &set), Err(TokenError::Type), "{kind}");
    }
    assert_eq!(accept(&header("crit", json!(["b64"])), &set), Err(TokenError::Critical));
    assert_eq!(accept(&header("kid", json!(1)), &set), Err(TokenError::UnknownKey));
    assert_eq!(accept(&header("kid", json!("2")), &set), Err(TokenError::UnknownKey));
    for text in ["", ".", "..", "a.b.c", "a.b", "e30.e30.", "e30.e30.e30.e30.e30", "\u{0}.\u{0}.\u{0}"] {
        assert!(accept(text, &set).is_err() && !Jws::is_one(text.as_bytes()), "{text}");
    }
    let good = header("typ", json!("JWT"));
    for broken in
        [good.replace('.', ".="), format!("{good}="), format!("{good}A."), good.replacen('.', "=.", 1)]
    {
        assert!(accept(&broken, &set).is_err(), "{broken}");
    }
    let long = key.token(&json!({ "alg": "EdDSA" }), &changed("x", json!("x".repeat(20_000))));
    assert_eq!(accept(&long, &set), Err(TokenError::TooLong));
}

#[test]
fn claims_are_checked_with_a_minute_of_leeway() {
    let key = SigningKey::edwards();
    let set = key_set(&[key.public("1")]);
    let check = |claims: &Value| accept(&key.token(&json!({ "alg": "EdDSA" }), claims), &set).err();
    assert_eq!(check(&claims()), None);
    for (name, value, error) in [
        ("exp", json!(NOW - 59), None),
        ("exp", json!(NOW - 60), Some(TokenError::Expired)),
        ("exp", json!(0), Some(TokenError::Expired)),
        ("exp", json!(1.8e9 + 0.5), None),
        ("exp", json!("1900000000"), Some(TokenError::Missing("exp"))),
        ("exp", json!(null), Some(TokenError::Missing("exp"))),
        ("nbf", json!(NOW + 60), None),
        ("nbf", json!(NOW + 61), Some(TokenError::NotYetValid)),
        ("nbf", json!("soon"), Some(TokenError::Missing("nbf"))),
        ("iat", json!(NOW + 61), Some(TokenError::FromTheFuture)),
        ("iss", json!("https://login.example.com/acme/"), Some(TokenError::Issuer)),
        ("iss", json!("https://LOGIN.example.com/acme"), Some(TokenError::Issuer)),
        ("iss", json!([ISSUER]), Some(TokenError::Issuer)),
        ("aud", json!("https://mcp.example.com/mcp/"), None),
        ("aud", json!("HTTPS://MCP.example.com:443/mcp"), None),
        ("aud", json!(["https://other.example", "api://app-id"]), None),
        ("aud", json!("https://mcp.example.com"), Some(TokenError::Audience)),
        ("aud", json!("https://mcp.example.com/mcp//"), Some(TokenError::Audience)),
        ("aud", json!("https://mcp.example.com/MCP"), Some(TokenError::Audience)),
        ("aud", json!("http://mcp.example.com/mcp"), Some(TokenError::Audience)),
        ("aud", json!("https://mcp.example.com.evil.example/mcp"), Some(TokenError::Audience)),
        ("aud", json!("API://app-id"), Some(TokenError::Audience)),
        ("aud", json!([]), Some(TokenError::Audience)),
        ("aud", json!({}), Some(TokenError::Audience)),
    ] {
        assert_eq!(check(&changed(name, value.clone())), error, "{name} {value}");
    }
    for (name, error) in [
        ("exp", Some(TokenError::Missing("exp"))),
        ("iss", Some(TokenError::Issuer)),
        ("aud", Some(TokenError::Missing("aud"))),
        ("iat", None),
    ] {
        assert_eq!(check(&without(name)), error, "{name}");
    }
}

#[test]
fn an_issuer_says_what_an_opaque_token_grants() {
    let audiences = ["https://mcp.example.com/mcp".to_owned()];
    let expected = Expected { issuer: ISSUER, audiences: &audiences, now: NOW };
    let read = |answer: &Value| introspection::read(answer.to_string().as_bytes(), &expected);
    let mut active = claims();
    active["active"] = json!(true);
    assert_eq!(read(&active).unwrap().scopes.len(), 2);
    active.as_object_mut().unwrap().remove("exp");
    active.as_object_mut().unwrap().remove("iss");
    assert_eq!(read(&active).unwrap().expires, None);
    for (name, value, error) in [
        ("active", json!(false), TokenError::NotActive),
        ("active", json!("true"), TokenError::NotActive),
        ("exp", json!(NOW - 100), TokenError::Expired),
        ("iss", json!("https://other.example"), TokenError::Issuer),
        ("aud", json!("https://other.example"), TokenError::Audience),
    ] {
        let mut answer = active.clone();
        answer[name] = value;
        assert_eq!(read(&answer), Err(error), "{name}");
    }
    active.as_object_mut().unwrap().remove("aud");
    assert_eq!(read(&active), Err(TokenError::Missing("aud")));
    assert_eq!(introspection::read(b"no", &expected), Err(TokenError::Claims));
    assert_eq!(introspection::question("a+b/c="), "token=a%2Bb%2Fc%3D&token_type_hint=access_token");
}
