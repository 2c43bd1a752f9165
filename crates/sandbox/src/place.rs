//! Places: the paths of a declaration, as its author writes them.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// A path of a declaration. Relative parts never lead out of their folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// Below the project.
    Project(PathBuf),
    /// Below each root of the client.
    Roots(PathBuf),
    /// The temporary folder of the call.
    Tmp,
    /// Below the home folder of the user.
    Home(PathBuf),
    Absolute(PathBuf),
}

/// Completes "'x' …".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlaceError {
    #[error("is empty")]
    Empty,
    #[error("holds a NUL character")]
    Nul,
    #[error("is a glob, and globs are not supported: name the folder, which includes everything in it")]
    Glob,
    #[error(
        "is a denial; a denied folder inside an allowed one cannot be enforced: list only what is allowed"
    )]
    Denial,
    #[error("leads out of its folder by `..`; write the path without it")]
    Parent,
    #[error(
        "is neither an absolute path nor `project`, `roots`, `tmp` or `~`, alone or with a path behind it such as `project/out`"
    )]
    Unknown,
    #[error("names a part of `tmp`, which is empty when a call begins; write `tmp`")]
    InTmp,
}

impl Place {
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        if text.trim().is_empty() {
            return Err(PlaceError::Empty);
        }
        if text.contains('\0') {
            return Err(PlaceError::Nul);
        }
        if text.starts_with('!') {
            return Err(PlaceError::Denial);
        }
        if text.contains(['*', '?', '[']) {
            return Err(PlaceError::Glob);
        }
        if Path::new(text).components().any(|part| part == Component::ParentDir) {
            return Err(PlaceError::Parent);
        }
        if text.starts_with('/') {
            return Ok(Self::Absolute(text.into()));
        }
        let (word, rest) = text.split_once('/').unwrap_or((text, ""));
        let rest = PathBuf::from(rest.trim_matches('/'));
        match word {
            "project" => Ok(Self::Project(rest)),
            "roots" => Ok(Self::Roots(rest)),
            "~" => Ok(Self::Home(rest)),
            "tmp" if rest.as_os_str().is_empty() => Ok(Self::Tmp),
            "tmp" => Err(PlaceError::InTmp),
            _ => Err(PlaceError::Unknown),
        }
    }
}

/// As an author writes it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, rest) = match self {
            Self::Project(rest) => ("project", rest),
            Self::Roots(rest) => ("roots", rest),
            Self::Home(rest) => ("~", rest),
            Self::Tmp => return f.write_str("tmp"),
            Self::Absolute(path) => return write!(f, "{}", path.display()),
        };
        f.write_str(word)?;
        if rest.as_os_str().is_empty() { Ok(()) } else { write!(f, "/{}", rest.display()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_written_alike() {
        for text in ["project", "project/out", "roots", "roots/a/b", "tmp", "~/.aws", "/var/log", "/"] {
            assert_eq!(Place::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Place::parse("project/").unwrap(), Place::Project(PathBuf::new()));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for (text, expected) in [
            (" ", PlaceError::Empty),
            ("/a\0", PlaceError::Nul),
            ("/var/*.log", PlaceError::Glob),
            ("!/etc", PlaceError::Denial),
            ("project/../..", PlaceError::Parent),
            ("/a/../etc", PlaceError::Parent),
            ("logs", PlaceError::Unknown),
            ("./logs", PlaceError::Unknown),
            ("tmp/x", PlaceError::InTmp),
        ] {
            assert_eq!(Place::parse(text), Err(expected), "{text}");
        }
    }
}
