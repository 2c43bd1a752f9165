//! Planted secret: tools receive it and say it in every way that they have. Nothing that a server sends, logs or leaves on the
//! disk may hold it.

use crate::run::Run;
use crate::violations::Kind;
use memchr::memmem;
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const SECRET: &str = "Planted-7f3a9c51e8d24b60-secret";

/// The name of the secret in the metadata of tools.
pub(crate) const NAME: &str = "planted";

/// The variable that tools receive it in.
pub(crate) const VARIABLE: &str = "PLANTED";

/// Writes the file that says where the secret is, for the user who runs the servers only.
pub(crate) fn write(file: &Path) -> io::Result<()> {
    let text = json!({ NAME: { "value": SECRET } }).to_string();
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}

/// The secret as scripts write it: as it is, as hexadecimal digits, and in Base64 at each offset.
static FORMS: LazyLock<Vec<memmem::Finder<'static>>> = LazyLock::new(|| {
    let hex = SECRET.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
    let mut forms = vec![SECRET.as_bytes().to_vec(), hex.to_ascii_uppercase().into_bytes(), hex.into_bytes()];
    for offset in 0..3 {
        let encoded = base64(&[&b"  "[..offset], SECRET.as_bytes()].concat());
        // The first letters and the last ones depend on what is beside the secret.
        forms.push(encoded[4..encoded.len() - 4].to_vec());
    }
    forms.iter().map(|form| memmem::Finder::new(form).into_owned()).collect()
});

/// Base64 without padding.
fn base64(bytes: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters_of = |three: &[u8]| {
        let number =
            (0..3).fold(0, |number, at| number << 8 | usize::from(three.get(at).copied().unwrap_or(0)));
        (0..=three.len()).map(move |at| LETTERS[number >> (18 - 6 * at) & 63])
    };
    bytes.chunks(3).flat_map(letters_of).collect()
}

pub(crate) fn is_in(bytes: &[u8]) -> bool {
    FORMS.iter().any(|form| form.find(bytes).is_some())
}

/// Searches every file below a folder, but the one that may hold it. Returns the number of files.
pub(crate) fn hunt(run: &Run, folder: &Path, except: &Path) -> usize {
    let mut files = Vec::new();
    collect(folder, &mut files);
    for file in files.iter().filter(|file| *file != except) {
        let mut bytes = Vec::new();
        if File::open(file).and_then(|mut open| open.read_to_end(&mut bytes)).is_ok() && is_in(&bytes) {
            run.violations.add(Kind::Secret, "a file", &file.display().to_string());
        }
    }
    files.len()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

/// The secret itself.
#[cfg(test)]
pub(crate) fn text() -> &'static str {
    SECRET
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_secret_is_found_in_each_form() {
        assert_eq!(base64(b"any carnal pleasure"), b"YW55IGNhcm5hbCBwbGVhc3VyZQ");
        let digits = "506c616e7465642d376633613963353165386432346236302d736563726574";
        for text in [SECRET, digits, &digits.to_uppercase()] {
            assert!(is_in(format!("before {text} after").as_bytes()), "{text}");
        }
        for before in ["", "a", "ab"] {
            assert!(is_in(&base64(format!("{before}{SECRET}, and more").as_bytes())), "{before}");
        }
        assert!(!is_in(b"Planted-7f3a9c51e8d24b60") && !is_in(b"***"));
    }

    #[test]
    fn a_file_with_the_secret_is_a_violation() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::new(1, folder.path(), Vec::new(), Duration::ZERO);
        write(&run.secrets).unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(folder.path().join("deep/clean"), "***").unwrap();
        assert_eq!(hunt(&run, folder.path(), &run.secrets), 2);
        assert!(run.violations.counts().is_empty());
        fs::write(folder.path().join("deep/file"), format!("a {SECRET}")).unwrap();
        assert_eq!(hunt(&run, folder.path(), &run.secrets), 3);
        assert_eq!(run.violations.counts().get(&Kind::Secret), Some(&1));
    }
}
