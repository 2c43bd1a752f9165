//! Which folder is served.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where the project is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    Folder(PathBuf),
    /// No project was named and none was found: the one inside the binary.
    Embedded,
}

#[derive(Debug, Error)]
pub enum LocationError {
    #[error("{named_by} is not a folder: {}", path.display())]
    NotAFolder { path: PathBuf, named_by: &'static str },
}

impl Location {
    /// The folder given on the command line, or the one the environment names, or the nearest project at or above
    /// `here`.
    pub fn find(
        flag: Option<&Path>,
        variable: Option<&Path>,
        here: Option<&Path>,
    ) -> Result<Self, LocationError> {
        let named = flag
            .map(|path| (path, "--project-root"))
            .or_else(|| variable.map(|path| (path, "MCPBASH_PROJECT_ROOT")));
        if let Some((path, named_by)) = named {
            return match path.canonicalize() {
                Ok(folder) if folder.is_dir() => Ok(Self::Folder(folder)),
                _ => Err(LocationError::NotAFolder { path: path.to_owned(), named_by }),
            };
        }
        let nearest = here.and_then(|here| here.ancestors().find(|folder| is_project(folder)));
        Ok(nearest.map_or(Self::Embedded, |folder| Self::Folder(folder.to_owned())))
    }
}

fn is_project(folder: &Path) -> bool {
    folder.join("server.d/server.meta.json").is_file()
        || ["tools", "resources", "prompts"].iter().any(|name| folder.join(name).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_variable_over_the_nearest_parent() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for folder in ["flag", "variable", "nearest/tools", "nearest/deep/down"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        let (flag, variable, here) = (top.join("flag"), top.join("variable"), top.join("nearest/deep/down"));
        let find = |flag, variable| Location::find(flag, variable, Some(&here)).unwrap();
        assert_eq!(find(Some(&*flag), Some(&*variable)), Location::Folder(flag.clone()));
        assert_eq!(find(None, Some(&*variable)), Location::Folder(variable.clone()));
        assert_eq!(find(None, None), Location::Folder(top.join("nearest")));
    }

    #[test]
    fn a_named_folder_must_exist() {
        let error = Location::find(None, Some(Path::new("/does/not/exist")), None).unwrap_err();
        assert_eq!(error.to_string(), "MCPBASH_PROJECT_ROOT is not a folder: /does/not/exist");
    }
}
