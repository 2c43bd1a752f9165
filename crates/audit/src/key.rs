//! Key of argument hashes. With a key, equal arguments have equal hashes, and nobody without the key can try guesses.

use crate::error::AuditError;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A key file has 64 digits and a line break.
const LONGEST: u64 = 66;

pub struct Key(hmac::Key);

impl Key {
    /// A key for this process alone.
    pub fn of_this_process() -> Result<Self, AuditError> {
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &random()?)))
    }

    /// The key in the file beside a log. It is made if there is none.
    pub fn beside(log: &Path) -> Result<Self, AuditError> {
        let path = crate::file::beside(log, ".key");
        match Self::read(&path) {
            Err(AuditError::Key { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                make(&path)?;
                Self::read(&path)
            }
            read => read,
        }
    }

    fn read(path: &Path) -> Result<Self, AuditError> {
        let failed = |source| AuditError::Key { path: path.to_owned(), source };
        let file = mcp_bash_files::open_no_link(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(AuditError::OpenKey { path: path.to_owned() });
        }
        let text = mcp_bash_files::read_all_text(&file, LONGEST).map_err(failed)?;
        let text = text.trim_end();
        if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(AuditError::NoKey { path: path.to_owned() });
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes())))
    }

    /// The keyed hash of a text, as `hmac-sha256:` and digits.
    pub fn hash(&self, text: &str) -> String {
        let mut hash = String::with_capacity(80);
        hash.push_str("hmac-sha256:");
        push_hex(&mut hash, hmac::sign(&self.0, text.as_bytes()).as_ref());
        hash
    }
}

/// Makes a key file in one step, so that no other process reads half of one. Another process may be first.
fn make(path: &Path) -> Result<(), AuditError> {
    let failed = |source| AuditError::Key { path: path.to_owned(), source };
    let mut text = String::new();
    push_hex(&mut text, &random()?);
    let draft = crate::file::beside(path, &format!(".{}", std::process::id()));
    let mut file = mcp_bash_files::create_new(&draft, 0o600).map_err(failed)?;
    text.push('\n');
    let made = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let made = made.and_then(|()| mcp_bash_files::rename_to_nothing(&draft, path));
    match made {
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = std::fs::remove_file(&draft);
            if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(failed(error)) }
        }
    }
}

pub(crate) fn random() -> Result<[u8; 32], AuditError> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled
        .map_err(|_| AuditError::Random { source: io::Error::other("the system has no random numbers") })?;
    Ok(bytes)
}

pub(crate) fn push_hex(text: &mut String, bytes: &[u8]) {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(*byte));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_hashes_under_one_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let hash = |log: &Path, text: &str| Key::beside(log).unwrap().hash(text);
        assert_eq!(hash(&one, "{}"), hash(&one, "{}"));
        assert_ne!(hash(&one, "{}"), hash(&one, "{ }"));
        assert_ne!(hash(&one, "{}"), hash(&other, "{}"));
        assert!(hash(&one, "{}").starts_with("hmac-sha256:") && hash(&one, "{}").len() == 76);
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "no draft is left: {names:?}");
    }

    #[test]
    fn a_key_that_others_can_read_or_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        Key::beside(&log).unwrap();
        let path = folder.path().join("log.key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Key::beside(&log), Err(AuditError::OpenKey { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short\n").unwrap();
        assert!(matches!(Key::beside(&log), Err(AuditError::NoKey { .. })));
    }
}
