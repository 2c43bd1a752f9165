//! Arbitrary tokens, keys, answers of an issuer and challenges: nothing panics, nothing is accepted without a signature, and a
//! challenge is one header value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_oauth::{
    Challenge, ChallengeError, Expected, Hierarchy, IssuerMetadata, Jws, KeySet, introspection, metadata_urls,
};

const ISSUER: &str = "https://login.example.com";

fuzz_target!(|input: (&[u8], &[u8], &str)| {
    let (token, document, text) = input;
    let audiences = ["https://mcp.example.com/mcp".to_owned()];
    let expected = Expected { issuer: ISSUER, audiences: &audiences, now: 1_800_000_000 };
    if let Ok(token) = Jws::parse(token) {
        if let Ok(keys) = KeySet::parse(document) {
            // No key of these bytes can have signed it: the signature would have to be forged.
            assert!(keys.verify(&token).is_err());
        }
        let _ = expected.check(token);
    }
    if let Ok(grant) = introspection::read(document, &expected) {
        assert!(grant.expires.is_none_or(|expires| expires.saturating_add(60) >= expected.now));
    }
    let _ = IssuerMetadata::parse(document, ISSUER);
    let _ = metadata_urls(text);
    let _ = Hierarchy::parse([text]);
    let scopes = [text.into()];
    let challenge = Challenge {
        error: Some(ChallengeError::InvalidToken),
        description: Some(text),
        scopes: &scopes,
        resource_metadata: Some(text),
    };
    let challenge = challenge.to_string();
    assert!(challenge.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    assert_eq!(challenge.matches('"').count(), 10);
});
