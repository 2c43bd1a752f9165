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

pub(crate) fn is_in(bytes: &[u8]) -> bool {
    memmem::find(bytes, SECRET.as_bytes()).is_some()
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
