//! Saved files of a result: written to a folder under safe names, and never over existing files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// How many files of one name are skipped over.
const MOST: usize = 10_000;

/// The longest name, without its extension.
const LONGEST: usize = 80;

/// Saves Base64 data under a name like `name` with the extension of its type. Returns the path and the number of bytes.
pub(crate) fn save(folder: &Path, name: &str, mime: &str, data: &str) -> io::Result<(PathBuf, usize)> {
    let bytes = decoded(data)?;
    DirBuilder::new().recursive(true).create(folder)?;
    let (stem, ending) = file_name(name, mime);
    for number in 1..MOST {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{number}{ending}"));
        match mcp_bash_files::create_new(&path, 0o666) {
            Ok(mut file) => {
                file.write_all(&bytes)?;
                return Ok((path, bytes.len()));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "too many files of that name"))
}

/// The bytes of a text in Base64.
pub(crate) fn decoded(data: &str) -> io::Result<Vec<u8>> {
    STANDARD
        .decode(data)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, format!("no Base64: {error}")))
}

/// A name that stays in its folder and is harmless in a shell, and its extension.
fn file_name(name: &str, mime: &str) -> (String, String) {
    let name = name.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let safe: String =
        name.chars().map(|letter| if is_safe(letter) { letter } else { '_' }).take(LONGEST).collect();
    let safe = safe.trim_start_matches(['.', '-']);
    let safe = if safe.is_empty() { "file" } else { safe };
    match safe.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && (1..=5).contains(&ending.len()) => {
            (stem.to_owned(), format!(".{ending}"))
        }
        _ => (safe.to_owned(), ending_of(mime).to_owned()),
    }
}

fn ending_of(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => ".png",
        "image/jpeg" => ".jpg",
        "image/gif" => ".gif",
        "image/webp" => ".webp",
        "image/svg+xml" => ".svg",
        "audio/wav" | "audio/x-wav" => ".wav",
        "audio/mpeg" | "audio/mp3" => ".mp3",
        "audio/ogg" => ".ogg",
        "audio/flac" => ".flac",
        "video/mp4" => ".mp4",
        "application/pdf" => ".pdf",
        "application/json" => ".json",
        "application/zip" => ".zip",
        "text/plain" => ".txt",
        "text/html" => ".html",
        "text/csv" => ".csv",
        _ => ".bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_have_an_ending() {
        for (name, mime, file) in [
            ("chart", "image/png", "chart.png"),
            ("file:///etc/../x/photo.jpeg", "image/jpeg", "photo.jpeg"),
            ("../../.ssh/authorized keys", "text/plain", "authorized_keys.txt"),
            ("..", "", "file.bin"),
            ("-rf", "audio/wav", "rf.wav"),
            ("a\u{1b}[31m\n", "image/gif; q=1", "a__31m_.gif"),
        ] {
            let (stem, ending) = file_name(name, mime);
            assert_eq!(format!("{stem}{ending}"), file);
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = std::env::temp_dir().join(format!("mcp-bash-save-{}", std::process::id()));
        let first = save(&folder, "a", "image/png", "aGk=").unwrap();
        let second = save(&folder, "a", "image/png", "aG8=").unwrap();
        assert_eq!(
            (first.0.file_name(), second.0.file_name()),
            (Some("a.png".as_ref()), Some("a-2.png".as_ref()))
        );
        assert_eq!(std::fs::read(&first.0).unwrap(), b"hi");
        assert!(save(&folder, "a", "image/png", "?").is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
