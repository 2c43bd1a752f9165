//! Message record: every message without its secrets, for debugging a client, in a folder that only its owner can read.

use super::observer::Observer;
use crate::replies::Redaction;
use mcp_bash_runner::StateDir;
use parking_lot::Mutex;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) struct Payloads {
    file: Mutex<File>,
    path: PathBuf,
    redaction: Redaction,
}

impl Payloads {
    pub(crate) fn create(state_dir: &StateDir, redaction: Redaction) -> io::Result<Self> {
        let path = state_dir.path()?.join("payloads.log");
        let file = create(&path)?;
        Ok(Self { file: Mutex::new(file), path, redaction })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Records a message; `direction` is `<` for incoming and `>` for outgoing.
    fn record(&self, direction: char, message: &[u8]) {
        let shown = match self.redaction.read(message) {
            Ok(value) => value.to_string(),
            Err(why) => why.to_string(),
        };
        let mut file = self.file.lock();
        // The private folder was removed, and may exist again.
        if file.metadata().is_ok_and(|seen| seen.nlink() == 0)
            && let Ok(again) = create(&self.path)
        {
            *file = again;
        }
        // A full disk must not stop the server; the record is only for debugging.
        let _ = writeln!(file, "{direction} {shown}");
    }
}

fn create(path: &Path) -> io::Result<File> {
    mcp_bash_files::create_new(path, 0o600)
}

impl Observer for Payloads {
    fn received(&self, message: &[u8]) {
        self.record('<', message);
    }

    fn sent(&self, message: &[u8]) {
        self.record('>', message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_goes_on_when_its_folder_was_removed_and_is_there_again() {
        let temp = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(temp.path().to_owned(), false);
        let payloads = Payloads::create(&state_dir, Redaction::new(None)).unwrap();
        std::fs::remove_dir_all(state_dir.path().unwrap()).unwrap();
        payloads.received(b"1");
        state_dir.restore().unwrap();
        payloads.received(b"2");
        assert_eq!(std::fs::read_to_string(payloads.path()).unwrap(), "< 2\n");
    }

    #[test]
    fn secrets_are_removed_and_the_rest_stays() {
        let temp = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(temp.path().to_owned(), false);
        let payloads =
            Payloads::create(&state_dir, Redaction::new(Some("the-remote-secret".into()))).unwrap();
        payloads.received(br#"{"params":{"arguments":{"api_key":"k1","Password":1,"n":{"X-Auth-Token":"k2","plain":"v"}},"_meta":{"progressToken":7,"odd":"the-remote-secret"}},"h":["Bearer abc","eyJhbGci.eyJzdWIi.c2lnbmF0"]}"#);
        payloads.received(
            br#"{"tokens":["k4",["k5"]],"key the-remote-secret":1,"schema":{"token":{"type":"string"}}}"#,
        );
        payloads.received(b"api_key=k3");
        let text = std::fs::read_to_string(payloads.path()).unwrap();
        for secret in ["k1", "k2", "k3", "k4", "k5", "the-remote-secret", "Bearer abc", "eyJ"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains(r#""plain":"v""#) && text.contains(r#""progressToken":7"#), "{text}");
        assert!(text.contains(r#""token":{"type":"string"}"#), "{text}");
    }
}
