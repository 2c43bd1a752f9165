//! Signing, for tests: keys of each kind, their public form, and tokens signed with them.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512,
    RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Value, json};

/// A key that was made for these tests and is used nowhere else. There is no generator of such keys in what we link.
const RSA_KEY: &str = "\
     MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCqgebAD4s7WWyZX/sxF8MItGNRQT0+zIjO4HQ8c9ng15Bp6/p0\
     axAwMLk38D2cshXA6tGyckUmqw/71lCvvTYUovnOjy9s4xBAabCLzXJDLezLmseMnSlNJZ220B2AjhjmWcrDbB3qHJ+XJ15VOHxG\
     xUMwtDPNLptbjW0PEVDT8dEvzJIFhdL2D/dFdJ/c5Z+v/s6cRsfeZCihe3hS+uz14dMSjfxAhls3RKuWClGoV4avqNbqbC9tHZ8H\
     wtUnEyWuREwJ1/rXHOxzM0VIVoqPhP9noehzIfzNWNqNjz9NZ11omc+VoaAQ6HEf/HC9U19o7tvbQS8FZEepu3ZWDSIBAgMBAAEC\
     ggEABL/Yjxn/vVf40+7d/tiUGK55o75G9/RXjTeoVTS+6WnnvmOR1uNSkJ0S07GP7cjyHS0NSUSwk2qpZ9Do73Q8SOffQHcxkX1j\
     qv+mqMZAvAlP8r3teAe6qkj1cy2p3LZYkDYJFVdyH97LPTkeAg6wO4JsJDOoy7rUHgE6+/P2BelHS4yG2/tDAu+908IiYE0tHmOU\
     7HVI+w+56Gy4xTaheGqoKcU7kPEJ+RdHefxSDJp+G2cbm8eTAJSKR4eZ3PWe3YgbzP4RabsPZnyBgu2/FagATaWVVBpAWNCgpBfs\
     /yNNL660DhwCklmfFGesaLO6vAV0zPD9oNeo1BdRl3g6oQKBgQDdA+DT/7TU7EaR3GiUJAHE3NZVfduOluYMX0rae0yC1pR6bOA3\
     XUIA7ubCguKZfN0ds2Ox19NL938izLywbiq3rYfZR3N5qdTxwGGNZMBYokAKAkZ+chggBIeAcs80jQktRAyMLP/m7NWXvHjkW1fZ\
     mZu9moihh+oxTQd0vwloCQKBgQDFf1Ddby+48cVcyS8V9+sogZVAhzc0dnFIe1FVj2dcBZ8FtUJxEpTuEp8KV/gaxB5i1Gm+pXfk\
     xSBu5fznJoEZxSPBWOI9MNxmdof0aOofx6yZK5iPa78fvNTLPlxSZyLkoNDkxqaJMzEmX9UNIu1eKHzc/M5ZfHR0NvWKa1s4OQKB\
     gG0pCjWLOVRk8qH+O8TXV+xUqqQFCpkNnMgFlOH+PhbtRt6EweV2cTAmzuDJZoQqsMeHn7jqAVmm/ys/9f4qG30m/07oxHcV07An\
     tcbxOTNNx9VptEmlrpa5xfdCPWcWNa8eyhe97hKvbPuJwif/mY9HGC34kn09tQTup70Y0duJAoGBALUyeh6vRDmKmGjorCqbq0Ue\
     nrD1XdDkWksF2TmGuG3VOnEiPDNBuSI0M3Zp/1ePV9GU0O/5IGbj9T3KBJ6O1SOvm35o7ij2C0B2v4WePC+sIs7lELOFR3T26sUO\
     EeYIehsI8J71IxX9wbpTckT7Joyc2PJnf2rapH17bwvwM2EBAoGAXg0t/jfU1XY+VxYKSRfVrE9pke+U+LvFmEm336zOHRFo0aWl\
     XHDoHsfJyBAvyFOULBWW/Pk1iyEq7MlFd8R1WSAdkaGWHvOzMfmlojrp7baJC3d4etKlFjyHXSUv5P1zIoBc2K/ydWb/LqI65UwB\
     rVhxvB7y/X+FLjcpwH3Yyjk=";

pub(super) enum SigningKey {
    Rsa(RsaKeyPair),
    Curve(EcdsaKeyPair, &'static str),
    Edwards(Ed25519KeyPair),
}

impl SigningKey {
    pub(super) fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(&STANDARD.decode(RSA_KEY).unwrap()).unwrap())
    }

    /// `P-256` or `P-384`.
    pub(super) fn curve(name: &'static str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), curve_algorithm(name));
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::Curve(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap(), name)
    }

    pub(super) fn edwards() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Edwards(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
    }

    /// The public key as an issuer publishes it.
    pub(super) fn public(&self, id: &str) -> Value {
        match self {
            Self::Rsa(key) => {
                let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "kid": id, "use": "sig", "n": encoded(&n), "e": encoded(&e) })
            }
            Self::Curve(key, name) => {
                let point = &key.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                json!({ "kty": "EC", "crv": name, "kid": id, "x": encoded(x), "y": encoded(y) })
            }
            Self::Edwards(key) => {
                let point = key.public_key().as_ref();
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": encoded(point) })
            }
        }
    }

    /// A token with that header and those claims.
    pub(super) fn token(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let signature = self.sign(header["alg"].as_str().unwrap(), signed.as_bytes());
        format!("{signed}.{}", encoded(signature))
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let padding: &'static dyn ring::signature::RsaEncoding = match algorithm {
                    "RS384" => &RSA_PKCS1_SHA384,
                    "RS512" => &RSA_PKCS1_SHA512,
                    "PS256" => &RSA_PSS_SHA256,
                    "PS384" => &RSA_PSS_SHA384,
                    "PS512" => &RSA_PSS_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Self::Curve(key, _) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Edwards(key) => key.sign(message).as_ref().to_vec(),
        }
    }
}

fn curve_algorithm(name: &str) -> &'static ring::signature::EcdsaSigningAlgorithm {
    if name == "P-256" { &ECDSA_P256_SHA256_FIXED_SIGNING } else { &ECDSA_P384_SHA384_FIXED_SIGNING }
}

pub(super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
