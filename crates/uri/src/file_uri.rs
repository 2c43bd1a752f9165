//! `file:` URIs.
//!
//! Which file a URI names depends on the system: `file:///C:/a` is `C:\a` on Windows and `/C:/a` elsewhere. So the URI
//! is parsed once, and converted for either system.

use crate::percent::{self, DecodeError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUri {
    /// Decoded, with a slash before each name. A relative path starts at the folder it is relative to.
    path: Vec<u8>,
    is_relative: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileUriError {
    #[error("`{0}` is not a file URI; one begins with `file:///`")]
    NotFile(String),
    #[error(
        "the file URI names the host `{0}`, but only files of this machine are read; write `file:///` and the path"
    )]
    OtherHost(String),
    #[error("the file URI names no path")]
    NoPath,
    #[error(
        "the `{0}` in the file URI would begin a query or a fragment, which files do not have; write it escaped"
    )]
    NotPath(char),
    #[error("the file URI cannot be read: {0}")]
    Escape(#[from] DecodeError),
    #[error(
        "a name in the file URI holds a separator of folders, written as an escape; no file is called so"
    )]
    EscapedSeparator,
    #[error("the file URI holds a NUL character, and no name of a file does")]
    Nul,
    #[error("the file URI has no drive letter, as in `file:///C:/`, or is not text")]
    NotWindows,
}

impl FileUri {
    /// Besides the forms of RFC 8089 it accepts `file://./notes.txt`, which projects use for files of their own.
    pub fn parse(uri: &str) -> Result<Self, FileUriError> {
        let not_file = || FileUriError::NotFile(uri.chars().take(80).collect());
        let (scheme, rest) = uri.split_at_checked(5).ok_or_else(not_file)?;
        if !scheme.eq_ignore_ascii_case("file:") {
            return Err(not_file());
        }
        if let Some(sign) = rest.chars().find(|sign| matches!(sign, '?' | '#')) {
            return Err(FileUriError::NotPath(sign));
        }
        let (host, path) = match rest.strip_prefix("//") {
            // Windows users write the drive where the host belongs.
            Some(drive) if drive_letter(drive.as_bytes()).is_some() => ("", drive),
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        if !matches!(host, "" | ".") && !host.eq_ignore_ascii_case("localhost") {
            return Err(FileUriError::OtherHost(host.to_owned()));
        }
        if path.trim_matches('/').is_empty() {
            return Err(FileUriError::NoPath);
        }
        let path = path.strip_prefix('/').unwrap_or(path);
        let separators: &[char] = if drive_letter(path.as_bytes()).is_some() { &['/', '\\'] } else { &['/'] };
        let mut decoded = Vec::with_capacity(path.len() + 1);
        for name in path.split(separators) {
            let name = percent::decode_bytes(name)?;
            if name.contains(&b'/') {
                return Err(FileUriError::EscapedSeparator);
            }
            if name.contains(&0) {
                return Err(FileUriError::Nul);
            }
            decoded.push(b'/');
            decoded.extend(name);
        }
        Ok(Self { path: decoded, is_relative: host == "." })
    }

    /// The URI of an absolute Unix path.
    pub fn of_unix(path: &[u8]) -> String {
        let mut uri = String::from("file://");
        for &byte in path {
            match byte {
                b'/' => uri.push('/'),
                // The encoder works on text; a byte that is not text is escaped all the same.
                0x80.. => percent::push_escape(&mut uri, byte),
                _ => percent::encode_into(
                    &mut uri,
                    char::from(byte).encode_utf8(&mut [0]),
                    percent::Keep::Unreserved,
                ),
            }
        }
        uri
    }

    /// The URI of a Windows path that begins with a drive.
    pub fn of_windows(path: &str) -> Result<String, FileUriError> {
        let drive = drive_letter(path.as_bytes()).ok_or(FileUriError::NotWindows)?;
        let names = Self::of_unix(path[2..].replace('\\', "/").as_bytes());
        let names = names.strip_prefix("file://").unwrap_or_default();
        Ok(format!("file:///{}:{names}", char::from(drive)))
    }

    /// Whether it is `file://./…`, relative to a folder that only the caller knows.
    pub fn is_relative(&self) -> bool {
        self.is_relative
    }

    /// The Unix path: names are bytes, which need not be text. Begins with `/` unless it is relative.
    pub fn unix(&self) -> &[u8] {
        if self.is_relative { &self.path[1..] } else { &self.path }
    }

    /// The Windows path: a drive, and names with backslashes between them.
    pub fn windows(&self) -> Result<String, FileUriError> {
        let path = std::str::from_utf8(&self.path[1..]).map_err(|_| FileUriError::NotWindows)?;
        if path.contains('\\') {
            return Err(FileUriError::EscapedSeparator);
        }
        if !self.is_relative && drive_letter(path.as_bytes()).is_none() {
            return Err(FileUriError::NotWindows);
        }
        Ok(path.replace('/', "\\"))
    }
}

/// The letter of `C:`, if a separator or nothing follows.
fn drive_letter(path: &[u8]) -> Option<u8> {
    match path {
        [letter, b':'] | [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    }
}
