//! Token claims: the name and groups of the caller, and the claims that scripts receive.

use crate::http::identity::caller_name::{caller_name, groups};
use crate::http::limits::identity_options::IssuerOptions;
use mcp_bash_oauth::TokenError;
use mcp_bash_server::{Identity, KnownBy};
use serde_json::{Map, Value};

pub(super) struct ClaimNames {
    name: String,
    groups: Option<String>,
    passed: Vec<String>,
}

impl ClaimNames {
    pub(super) fn new(options: &IssuerOptions) -> Self {
        Self {
            name: options.name_claim.clone(),
            groups: options.groups_claim.clone(),
            passed: options.passed_claims.clone(),
        }
    }

    /// The identity of the caller. Only the claims that the operator names are passed to scripts.
    pub(super) fn identity(
        &self,
        issuer: &str,
        known_by: KnownBy,
        claims: &Map<String, Value>,
        scopes: Vec<Box<str>>,
    ) -> Result<Identity, TokenError> {
        let name = find(claims, &self.name).and_then(|name| match name {
            Value::String(text) => caller_name(issuer, text),
            Value::Number(number) => caller_name(issuer, &number.to_string()),
            _ => None,
        });
        let name = name.ok_or(TokenError::Missing("that names the caller"))?;
        let listed = self.groups.as_deref().and_then(|groups| find(claims, groups));
        let groups = match listed {
            Some(Value::Array(list)) => groups(list.iter().filter_map(Value::as_str)),
            Some(Value::String(one)) => groups([one.as_str()]),
            _ => Vec::new(),
        };
        let passed = self.passed.iter().filter_map(|name| Some((name.clone(), find(claims, name)?.clone())));
        let claims = passed.collect();
        Ok(Identity { groups, scopes, claims, ..Identity::new(name, known_by) })
    }
}

/// The claim of that name, or the member at a path such as `realm_access.roles`.
fn find<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(claim) = claims.get(name) {
        return Some(claim);
    }
    let (first, rest) = name.split_once('.')?;
    find(claims.get(first)?.as_object()?, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ISSUER: &str = "https://login.example.com/acme";

    fn identity(claims: &Value) -> Result<Identity, TokenError> {
        let names = ClaimNames {
            name: "sub".to_owned(),
            groups: Some("realm_access.roles".to_owned()),
            passed: vec!["email".to_owned(), "https://example.com/team".to_owned()],
        };
        names.identity(ISSUER, KnownBy::Jwt, claims.as_object().unwrap(), Vec::new())
    }

    #[test]
    fn a_caller_is_named_by_its_issuer_and_only_named_claims_are_passed() {
        let found = identity(&json!({
            "sub": "alice", "email": "a@example.com", "jti": "1", "https://example.com/team": ["x"],
            "realm_access": { "roles": ["dev", "b\nadmin", 7, "ops"] },
        }))
        .unwrap();
        assert_eq!(&*found.name, "https://login.example.com/acme alice");
        assert_eq!(found.groups, ["dev".into(), "ops".into()]);
        assert_eq!(
            Value::Object(found.claims),
            json!({ "email": "a@example.com", "https://example.com/team": ["x"] })
        );
        assert_eq!(&*identity(&json!({ "sub": 7 })).unwrap().name, "https://login.example.com/acme 7");
    }

    #[test]
    fn a_token_without_a_usable_name_is_refused() {
        for claims in [json!({}), json!({ "sub": "" }), json!({ "sub": "a\nb" }), json!({ "sub": ["a"] })] {
            assert!(identity(&claims).is_err(), "{claims}");
        }
    }
}
