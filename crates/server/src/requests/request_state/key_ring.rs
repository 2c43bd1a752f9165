//! Key ring: the keys that seal a `requestState` and the id of a session. Clients can neither read nor change a sealed text,
//! and only a holder of the key can create one. Keys can be rotated: the first key of the ring seals, and every key opens.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use mcp_bash_files::{open, read_all_text};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The prefix of a sealed text: the version of its format.
const VERSION: &str = "1";

/// The length of the salt: each text is sealed with its own key, derived from a key of the ring and a random salt. However many
/// texts a key seals, no two share both derived key and nonce.
const SALT_LEN: usize = 16;

/// The purpose of a sealed text. It can be opened only for the same purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    RequestState,
    SessionId,
}

impl Purpose {
    fn name(self) -> &'static [u8] {
        match self {
            Self::RequestState => b"mcp-bash requestState 1",
            Self::SessionId => b"mcp-bash session id 1",
        }
    }
}

/// The shortest secret, in bytes.
const LEAST_SECRET: usize = 32;

/// The longest ID of a key. The ID is part of each text.
const LONGEST_ID: usize = 32;

/// The largest size of a key file.
const LONGEST_FILE: u64 = 64 * 1024;

/// Base64 as `openssl rand -base64 32` prints it, with or without padding.
const WRITTEN: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why a key file cannot be used. No message repeats its contents.
#[derive(Debug, Error)]
pub enum KeyFileError {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("{0}: others than its owner may read or write it (mode {1:03o}); run `chmod 600` on it")]
    OpenToOthers(PathBuf, u32),
    #[error("{0}: line {1} is no key; write `ID:base64`, with an ID of letters, digits, `-` and `_`")]
    NotAKey(PathBuf, usize),
    #[error(
        "{0}: the key of line {1} is shorter than {LEAST_SECRET} bytes; make one by `openssl rand -base64 32`"
    )]
    Short(PathBuf, usize),
    #[error("{0}: the ID of line {1} is that of another key")]
    Twice(PathBuf, usize),
    #[error("{0}: there is no key in it; make one by `echo \"1:$(openssl rand -base64 32)\"`")]
    Empty(PathBuf),
    #[error("the system has no random numbers")]
    NoRandom,
}

/// Why a text cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotOpened {
    Form,
    UnknownKey,
    Changed,
}

impl NotOpened {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Form => "it has not the form of a state",
            Self::UnknownKey => "no key of this server has its ID",
            Self::Changed => "it was changed, or sealed with another key of the same ID",
        }
    }
}

pub struct KeyRing {
    /// At least one.
    keys: Vec<Key>,
    random: SystemRandom,
    /// Whether other processes may have the keys.
    is_shared: bool,
}

struct Key {
    id: Box<str>,
    secret: Vec<u8>,
}

impl KeyRing {
    /// Creates a ring with one random key, known only to this process.
    pub fn of_this_process() -> Result<Self, KeyFileError> {
        let random = SystemRandom::new();
        let mut secret = vec![0; LEAST_SECRET];
        random.fill(&mut secret).map_err(|_| KeyFileError::NoRandom)?;
        Ok(Self { keys: vec![Key { id: "process".into(), secret }], random, is_shared: false })
    }

    /// Reads a key file, which only its owner may access: one `ID:base64` per line.
    pub fn read(path: &Path) -> Result<Self, KeyFileError> {
        let unreadable = |error| KeyFileError::Unreadable(path.to_owned(), error);
        let file = open(path).map_err(unreadable)?;
        let mode = file.metadata().map_err(unreadable)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyFileError::OpenToOthers(path.to_owned(), mode));
        }
        let text = read_all_text(&file, LONGEST_FILE).map_err(unreadable)?;
        let mut keys: Vec<Key> = Vec::new();
        for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = Key::read(line).ok_or_else(|| KeyFileError::NotAKey(path.to_owned(), number))?;
            if key.secret.len() < LEAST_SECRET {
                return Err(KeyFileError::Short(path.to_owned(), number));
            }
            if keys.iter().any(|known| known.id == key.id) {
                return Err(KeyFileError::Twice(path.to_owned(), number));
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err(KeyFileError::Empty(path.to_owned()));
        }
        Ok(Self { keys, random: SystemRandom::new(), is_shared: true })
    }

    /// Whether other processes may have the keys.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Random bytes. `None` only if the system has none.
    pub(super) fn random<const BYTES: usize>(&self) -> Option<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        self.random.fill(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Seals a text. Rings with the same key can open it. `None` only if the system has no random numbers.
    pub(crate) fn seal(&self, purpose: Purpose, mut content: Vec<u8>) -> Option<String> {
        let key = &self.keys[0];
        let (salt, nonce) = (self.random::<SALT_LEN>()?, self.random::<NONCE_LEN>()?);
        let begin = format!("{VERSION}.{}.", key.id);
        let nonce_of_text = Nonce::assume_unique_for_key(nonce);
        key.derived(purpose, &salt)?
            .seal_in_place_append_tag(nonce_of_text, Aad::from(begin.as_bytes()), &mut content)
            .ok()?;
        let sealed = [&salt[..], &nonce, &content].concat();
        Some(format!("{begin}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// Opens a sealed text.
    pub(crate) fn open(&self, purpose: Purpose, text: &str) -> Result<Vec<u8>, NotOpened> {
        let rest = text.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('.'));
        let (id, encoded) = rest.and_then(|rest| rest.split_once('.')).ok_or(NotOpened::Form)?;
        let begin = &text[..text.len() - encoded.len()];
        // Each byte sequence has only one encoding.
        let mut sealed = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| NotOpened::Form)?;
        let (salt, rest) = sealed.split_at_mut_checked(SALT_LEN).ok_or(NotOpened::Form)?;
        let (nonce, content) = rest.split_at_mut_checked(NONCE_LEN).ok_or(NotOpened::Form)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| NotOpened::Form)?;
        let key = self.keys.iter().find(|key| *key.id == *id).ok_or(NotOpened::UnknownKey)?;
        let key = key.derived(purpose, salt).ok_or(NotOpened::Form)?;
        let opened = key.open_in_place(nonce, Aad::from(begin.as_bytes()), content);
        opened.map(|content| content.to_vec()).map_err(|_| NotOpened::Changed)
    }
}

impl Key {
    fn read(line: &str) -> Option<Self> {
        let (id, secret) = line.split_once(':')?;
        let (id, secret) = (id.trim(), secret.trim());
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_id = !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(is_letter);
        let secret = WRITTEN.decode(secret).ok().filter(|_| is_id)?;
        Some(Self { id: id.into(), secret })
    }

    /// Derives the key for one text.
    fn derived(&self, purpose: Purpose, salt: &[u8]) -> Option<LessSafeKey> {
        let pseudorandom = Salt::new(HKDF_SHA256, salt).extract(&self.secret);
        let purpose = [purpose.name()];
        let output = pseudorandom.expand(&purpose, &AES_256_GCM).ok()?;
        Some(LessSafeKey::new(UnboundKey::from(output)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn ring(text: &str, mode: u32) -> Result<KeyRing, KeyFileError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        std::fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
        KeyRing::read(file.path())
    }

    const STATE: Purpose = Purpose::RequestState;
    const OLD: &str = "old:b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQgb2xkIG9sZCA=";
    const NEW: &str = "new-1:bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXcgbmV3IG5ldyBuZXc";

    #[test]
    fn every_server_with_the_key_opens_a_sealed_state() {
        let (old, both) =
            (ring(OLD, 0o600).unwrap(), ring(&format!("# of today\n{NEW}\n\n{OLD}\n"), 0o400).unwrap());
        let sealed = old.seal(STATE, b"secret".to_vec()).unwrap();
        assert!(sealed.starts_with("1.old.") && !sealed.contains("secret"));
        assert_eq!(both.open(STATE, &sealed).unwrap(), b"secret");
        assert_eq!(both.open(Purpose::SessionId, &sealed), Err(NotOpened::Changed), "it is no session id");
        let sealed = both.seal(STATE, b"x".to_vec()).unwrap();
        assert_eq!(old.open(STATE, &sealed), Err(NotOpened::UnknownKey));
        assert_ne!(sealed, both.seal(STATE, b"x".to_vec()).unwrap());
        let (one, other) = (KeyRing::of_this_process().unwrap(), KeyRing::of_this_process().unwrap());
        assert_eq!(other.open(STATE, &one.seal(STATE, Vec::new()).unwrap()), Err(NotOpened::Changed));
    }

    #[test]
    fn a_text_that_was_changed_anywhere_is_not_opened() {
        let ring = ring(&format!("{OLD}\n{NEW}"), 0o600).unwrap();
        let sealed = ring.seal(STATE, b"a content of some length".to_vec()).unwrap();
        for index in 0..sealed.len() {
            for other in ["A", "B", ".", "=", "é", ""] {
                let mut changed = sealed.clone();
                changed.replace_range(index..=index, other);
                assert!(changed == sealed || ring.open(STATE, &changed).is_err(), "{changed}");
            }
            assert!(ring.open(STATE, &sealed[..index]).is_err(), "cut at {index}");
        }
        for changed in [format!("{sealed}A"), format!("{sealed}-TAMPERED"), sealed.replace("old", "new-1")] {
            assert!(ring.open(STATE, &changed).is_err(), "{changed}");
        }
    }

    #[test]
    fn an_unsafe_or_invalid_key_file_is_refused() {
        use KeyFileError as E;
        for mode in [0o640, 0o604, 0o620, 0o602, 0o610, 0o644] {
            assert!(matches!(ring(OLD, mode), Err(E::OpenToOthers(_, found)) if found == mode));
        }
        assert!(matches!(ring("old:c2hvcnQ=", 0o600), Err(E::Short(_, 1))));
        assert!(matches!(ring(&format!("{OLD}\n{OLD}"), 0o600), Err(E::Twice(_, 2))));
        assert!(matches!(ring("\n# nothing\n", 0o600), Err(E::Empty(_))));
        for line in ["nokey", "a b:AAAA", ":AAAA", "a:!!", &format!("{}:AAAA", "x".repeat(33))] {
            assert!(matches!(ring(line, 0o600), Err(E::NotAKey(_, 1))), "{line}");
        }
        assert!(matches!(KeyRing::read(Path::new("/nonexistent")), Err(E::Unreadable(..))));
    }
}
