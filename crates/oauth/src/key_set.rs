//! Key set (JWKS): the public keys of an issuer.

use crate::algorithm::{Algorithm, PublicKey};
use crate::error::KeySetError;
use crate::jws::Jws;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// More keys than an issuer has.
pub(crate) const MOST_KEYS: usize = 128;

/// How many keys are tried for a token that names none, or whose name several have.
const MOST_TRIED: usize = 16;

/// Bits of the shortest RSA key.
const LEAST_RSA_BITS: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySet(Vec<Key>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, if it names one.
    algorithm: Option<Algorithm>,
    public: PublicKey,
}

/// Why the keys do not verify a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotVerified {
    /// There is no such key. The issuer may have a new one by now.
    UnknownKey,
    WrongSignature,
}

impl KeySet {
    /// Reads a key set. Keys that cannot verify a token of the accepted algorithms are left out: those for encryption, shared
    /// secrets, short ones, unknown kinds.
    pub fn parse(text: &[u8]) -> Result<Self, KeySetError> {
        let set: Map<String, Value> = serde_json::from_slice(text).map_err(|_| KeySetError::NotAKeySet)?;
        let keys = set.get("keys").and_then(Value::as_array).ok_or(KeySetError::NotAKeySet)?;
        if keys.len() > MOST_KEYS {
            return Err(KeySetError::TooMany(keys.len()));
        }
        let keys: Vec<Key> = keys.iter().filter_map(|key| Key::read(key.as_object()?)).collect();
        if keys.is_empty() { Err(KeySetError::NoUsableKey) } else { Ok(Self(keys)) }
    }

    /// Whether one of the keys has signed the token.
    pub fn verify(&self, token: &Jws<'_>) -> Result<(), NotVerified> {
        let fitting = |key: &&Key| key.is_for(token.algorithm);
        let named = |key: &&Key| key.id.is_some() && key.id == token.key_id;
        let mut keys: Vec<&Key> = self.0.iter().filter(fitting).filter(named).collect();
        if keys.is_empty() {
            // A token without a key id may be of any key, and a key without an id may be of any token.
            keys = self.0.iter().filter(fitting).collect();
            keys.retain(|key| token.key_id.is_none() || key.id.is_none());
        }
        if keys.is_empty() {
            return Err(NotVerified::UnknownKey);
        }
        let verifies = |key: &&Key| token.algorithm.verifies(&key.public, token.signed, &token.signature);
        if keys.iter().take(MOST_TRIED).any(verifies) { Ok(()) } else { Err(NotVerified::WrongSignature) }
    }
}

impl Key {
    fn read(key: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        if key.contains_key("use") && text("use") != Some("sig") {
            return None;
        }
        if let Some(operations) = key.get("key_ops") {
            operations.as_array()?.iter().find(|operation| *operation == "verify")?;
        }
        // One that names an algorithm that we do not accept is for no other.
        let algorithm = match key.get("alg") {
            None => None,
            Some(name) => Some(Algorithm::parse(name.as_str()?)?),
        };
        let id = text("kid").map(str::to_owned);
        let key = Self { id, algorithm, public: public(text)? };
        algorithm.is_none_or(|algorithm| algorithm.fits(&key.public)).then_some(key)
    }

    fn is_for(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_none_or(|only| only == algorithm) && algorithm.fits(&self.public)
    }
}

fn public<'a>(text: impl Fn(&str) -> Option<&'a str>) -> Option<PublicKey> {
    let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok();
    match (text("kty")?, text("crv")) {
        ("RSA", _) => {
            let (modulus, exponent) = (without_zeros(bytes("n")?), without_zeros(bytes("e")?));
            let bits = modulus.len() * 8 - modulus.first()?.leading_zeros() as usize;
            (bits >= LEAST_RSA_BITS).then_some(PublicKey::Rsa { modulus, exponent })
        }
        ("EC", Some("P-256")) => point(&bytes("x")?, &bytes("y")?, 32).map(PublicKey::P256),
        ("EC", Some("P-384")) => point(&bytes("x")?, &bytes("y")?, 48).map(PublicKey::P384),
        ("OKP", Some("Ed25519")) => bytes("x").filter(|key| key.len() == 32).map(PublicKey::Ed25519),
        _ => None,
    }
}

/// Some issuers write the zeros in front, which the verifier does not take.
fn without_zeros(mut number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.drain(..zeros);
    number
}

/// An uncompressed point of a curve whose numbers have so many bytes.
fn point(x: &[u8], y: &[u8], bytes: usize) -> Option<Vec<u8>> {
    (x.len() == bytes && y.len() == bytes).then(|| [&[4], x, y].concat())
}
