//! Signature algorithms: the allow-list, and what verifies each of them.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, EcdsaVerificationAlgorithm,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey,
};

/// An algorithm by which a token may be signed. `none` and those with a shared secret (`HS256` and its like) are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

const NAMES: [(&str, Algorithm); 10] = [
    ("RS256", Algorithm::Rs256),
    ("RS384", Algorithm::Rs384),
    ("RS512", Algorithm::Rs512),
    ("PS256", Algorithm::Ps256),
    ("PS384", Algorithm::Ps384),
    ("PS512", Algorithm::Ps512),
    ("ES256", Algorithm::Es256),
    ("ES384", Algorithm::Es384),
    ("EdDSA", Algorithm::EdDsa),
    // The name that RFC 9864 gives to the only curve that is in use with it.
    ("Ed25519", Algorithm::EdDsa),
];

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PublicKey {
    /// Modulus and exponent, big-endian.
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Algorithm {
    /// The algorithm of that name, which is case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    /// Whether signatures of this algorithm are made with a key of that kind.
    pub(crate) fn fits(self, key: &PublicKey) -> bool {
        match key {
            PublicKey::Rsa { .. } => self.rsa().is_some(),
            PublicKey::P256(_) => self == Self::Es256,
            PublicKey::P384(_) => self == Self::Es384,
            PublicKey::Ed25519(_) => self == Self::EdDsa,
        }
    }

    /// Whether the signature is that of the message. A key of another kind verifies nothing.
    pub(crate) fn verifies(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        let curve = |algorithm: &'static EcdsaVerificationAlgorithm, point: &[u8]| {
            UnparsedPublicKey::new(algorithm, point).verify(message, signature).is_ok()
        };
        match (self, key) {
            (Self::Es256, PublicKey::P256(point)) => curve(&ECDSA_P256_SHA256_FIXED, point),
            (Self::Es384, PublicKey::P384(point)) => curve(&ECDSA_P384_SHA384_FIXED, point),
            (Self::EdDsa, PublicKey::Ed25519(point)) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature).is_ok()
            }
            (_, PublicKey::Rsa { modulus, exponent }) => self.rsa().is_some_and(|parameters| {
                RsaPublicKeyComponents { n: modulus, e: exponent }
                    .verify(parameters, message, signature)
                    .is_ok()
            }),
            _ => false,
        }
    }

    fn rsa(self) -> Option<&'static RsaParameters> {
        Some(match self {
            Self::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
            Self::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
            Self::Rs512 => &RSA_PKCS1_2048_8192_SHA512,
            Self::Ps256 => &RSA_PSS_2048_8192_SHA256,
            Self::Ps384 => &RSA_PSS_2048_8192_SHA384,
            Self::Ps512 => &RSA_PSS_2048_8192_SHA512,
            Self::Es256 | Self::Es384 | Self::EdDsa => return None,
        })
    }
}
