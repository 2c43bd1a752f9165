//! Key sets: which keys are used, and for which tokens.

use super::signing::{SigningKey, encoded};
use crate::{Jws, KeySet, KeySetError, NotVerified};
use serde_json::{Value, json};

fn set(keys: &[Value]) -> Result<KeySet, KeySetError> {
    KeySet::parse(json!({ "keys": keys }).to_string().as_bytes())
}

fn with(mut key: Value, name: &str, value: Value) -> Value {
    key[name] = value;
    key
}

fn verify(keys: &[Value], token: &str) -> Result<(), NotVerified> {
    set(keys).unwrap().verify(&Jws::parse(token.as_bytes()).unwrap())
}

#[test]
fn keys_for_anything_else_are_left_out() {
    let key = SigningKey::curve("P-256");
    let public = key.public("1");
    let short = json!({ "kty": "RSA", "n": encoded([255; 128]), "e": "AQAB" });
    for unusable in [
        with(public.clone(), "use", json!("enc")),
        with(public.clone(), "use", json!(1)),
        with(public.clone(), "key_ops", json!(["sign"])),
        with(public.clone(), "key_ops", json!("verify")),
        with(public.clone(), "alg", json!("HS256")),
        with(public.clone(), "alg", json!("ES384")),
        with(public.clone(), "alg", json!("none")),
        with(public.clone(), "crv", json!("P-521")),
        with(public.clone(), "x", json!("AA")),
        with(public.clone(), "x", json!("!")),
        json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "1" }),
        json!({ "kty": "OKP", "crv": "X25519", "x": encoded([1; 32]) }),
        json!({ "kty": "RSA", "n": "", "e": "AQAB" }),
        json!({ "kty": "RSA", "e": "AQAB" }),
        with(short.clone(), "n", json!(encoded([[0; 200], [255; 200]].concat()))),
        short,
        json!({}),
        json!(1),
        json!(null),
    ] {
        assert_eq!(set(std::slice::from_ref(&unusable)), Err(KeySetError::NoUsableKey), "{unusable}");
        assert!(set(&[unusable, public.clone()]).is_ok());
    }
    for usable in [
        with(public.clone(), "alg", json!("ES256")),
        with(public.clone(), "key_ops", json!(["verify"])),
        with(public, "use", json!("sig")),
    ] {
        assert!(set(&[usable]).is_ok());
    }
    for text in ["", "[]", "{}", "{\"keys\":{}}", "no"] {
        assert_eq!(KeySet::parse(text.as_bytes()), Err(KeySetError::NotAKeySet), "{text}");
    }
    assert_eq!(set(&[]), Err(KeySetError::NoUsableKey));
    assert_eq!(set(&vec![json!({}); 129]), Err(KeySetError::TooMany(129)));
}

#[test]
fn a_token_is_verified_with_the_key_that_it_names() {
    let (old, new) = (SigningKey::curve("P-256"), SigningKey::curve("P-256"));
    let token = |id: Option<&str>| {
        let mut header = json!({ "alg": "ES256" });
        if let Some(id) = id {
            header["kid"] = json!(id);
        }
        new.token(&header, &json!({ "sub": "alice" }))
    };
    let both = [old.public("old"), new.public("new")];
    assert_eq!(verify(&both, &token(Some("new"))), Ok(()));
    assert_eq!(verify(&both, &token(Some("old"))), Err(NotVerified::WrongSignature));
    assert_eq!(verify(&both, &token(Some("newer"))), Err(NotVerified::UnknownKey));
    assert_eq!(verify(&both, &token(None)), Ok(()));
    assert_eq!(verify(&both[..1], &token(None)), Err(NotVerified::WrongSignature));
    // Two keys of one name: either may be meant.
    let same = [old.public("same"), new.public("same"), SigningKey::rsa().public("same")];
    assert_eq!(verify(&same, &token(Some("same"))), Ok(()));
    // A key without a name.
    let mut nameless = new.public("");
    nameless.as_object_mut().unwrap().remove("kid");
    assert_eq!(verify(&[nameless.clone()], &token(Some("new"))), Ok(()));
    assert_eq!(verify(&[old.public("new"), nameless], &token(Some("new"))), Err(NotVerified::WrongSignature));
    // A key for one algorithm is for no other.
    let rsa = SigningKey::rsa();
    let only = with(rsa.public("1"), "alg", json!("RS256"));
    let pss = rsa.token(&json!({ "alg": "PS256", "kid": "1" }), &json!({}));
    assert_eq!(verify(&[only], &pss), Err(NotVerified::UnknownKey));
    assert_eq!(verify(&[rsa.public("1")], &pss), Ok(()));
}
