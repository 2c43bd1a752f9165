//! Scopes: the names of permissions in a token, and which of them include others.

use crate::error::ScopeError;
use serde_json::{Map, Value};

/// More scopes of one token are not kept.
const MOST_SCOPES: usize = 256;

/// Whether a text is a scope token as RFC 6749 has it.
pub fn is_scope(text: &str) -> bool {
    let is_sign = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !text.is_empty() && text.bytes().all(is_sign)
}

/// The scopes of a token: `scope`, a text with blanks, or `scp`, a text or a list.
pub fn read_scopes(claims: &Map<String, Value>) -> Vec<Box<str>> {
    let mut scopes: Vec<Box<str>> = Vec::new();
    for value in ["scope", "scp"].into_iter().filter_map(|name| claims.get(name)) {
        let texts: Vec<&str> = match value {
            Value::String(text) => text.split(' ').collect(),
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for text in texts.into_iter().filter(|text| is_scope(text)) {
            if scopes.len() < MOST_SCOPES && !scopes.iter().any(|known| &**known == text) {
                scopes.push(text.into());
            }
        }
    }
    scopes
}

/// Which scopes include others, as the operator says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hierarchy(Vec<(Box<str>, Box<str>)>);

impl Hierarchy {
    /// Reads chains such as `admin>files:write>files:read`: each scope includes those after it.
    pub fn parse<'a>(chains: impl IntoIterator<Item = &'a str>) -> Result<Self, ScopeError> {
        let mut pairs: Vec<(Box<str>, Box<str>)> = Vec::new();
        for chain in chains {
            let scopes: Vec<&str> = chain.split('>').collect();
            if let Some(wrong) = scopes.iter().find(|scope| !is_scope(scope)) {
                return Err(ScopeError::NotAScope(wrong.escape_debug().to_string()));
            }
            if scopes.len() < 2 {
                return Err(ScopeError::NoChain(chain.to_owned()));
            }
            pairs.extend(scopes.windows(2).map(|pair| (pair[0].into(), pair[1].into())));
        }
        Ok(Self(pairs))
    }

    /// The scopes with all that they include.
    pub fn expand(&self, mut scopes: Vec<Box<str>>) -> Vec<Box<str>> {
        let mut at = 0;
        while at < scopes.len() {
            for (wide, narrow) in &self.0 {
                if *wide == scopes[at] && !scopes.contains(narrow) {
                    scopes.push(narrow.clone());
                }
            }
            at += 1;
        }
        scopes
    }
}
