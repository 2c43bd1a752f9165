//! The lock of a vendored program: which one is beside the project, and how it is recognized.

use crate::error::PackagingError;
use crate::version::Version;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// What `.mcp-bash/vendor.json` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    pub version: Version,
    pub sha256: String,
    /// The system and the processor, as in `linux-x86_64`.
    pub target: String,
}

impl Lock {
    /// The file.
    pub fn written(&self) -> String {
        let lock = json!({
            "version": self.version.to_string(),
            "sha256": self.sha256,
            "target": self.target,
            "program": ".mcp-bash/mcp-bash",
        });
        format!("{lock:#}\n")
    }

    pub fn parse(text: &str) -> Result<Self, PackagingError> {
        let wrong = |problem: &str| PackagingError::Lock(problem.to_owned());
        let read: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        let member = |name: &str| read[name].as_str().ok_or_else(|| wrong(&format!("it has no `{name}`")));
        let version = Version::parse(member("version")?).ok_or_else(|| wrong("its `version` is none"))?;
        let sha256 = member("sha256")?.to_owned();
        if sha256.len() != 64 || !sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(wrong("its `sha256` is none"));
        }
        Ok(Self { version, sha256, target: member("target")?.to_owned() })
    }

    /// Whether the text is the lock of mcp-bash in bash, whose runtime is a folder of scripts: it names no target.
    pub fn is_of_scripts(text: &str) -> bool {
        let read: Value = serde_json::from_str(text).unwrap_or_default();
        read["target"].is_null() && (read["vendored_from"].is_string() || read["vendored_at"].is_string())
    }
}

/// The SHA-256 of bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_written_and_read_again() {
        let lock = Lock {
            version: Version::parse("1.2.3").unwrap(),
            sha256: sha256(b"abc"),
            target: "linux-x86_64".to_owned(),
        };
        assert_eq!(lock.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Lock::parse(&lock.written()).unwrap(), lock);
        assert!(!Lock::is_of_scripts(&lock.written()));
    }

    #[test]
    fn other_locks_are_refused_or_recognized() {
        for (text, said) in [
            ("", "EOF"),
            ("{}", "no `version`"),
            (r#"{"version": "x"}"#, "`version` is none"),
            (r#"{"version": "1.0.0", "sha256": "../x"}"#, "`sha256` is none"),
            (&format!(r#"{{"version": "1.0.0", "sha256": "{}"}}"#, "a".repeat(64)), "no `target`"),
        ] {
            let error = Lock::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        let of_scripts =
            r#"{"version": "1.3.0", "sha256": "x", "vendored_from": "/x", "vendored_at": "2026-01-01"}"#;
        assert!(Lock::is_of_scripts(of_scripts) && !Lock::is_of_scripts("{}") && !Lock::is_of_scripts("["));
    }
}
