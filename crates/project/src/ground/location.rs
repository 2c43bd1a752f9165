//! Project location: which folder is served.

use crate::ground::loose_scripts::import_hint;
use crate::{Diagnostic, Paths};
use std::io;
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
    #[error("{named_by} does not exist: {}", path.display())]
    Missing { path: PathBuf, named_by: &'static str },
    #[error("{named_by} is not a folder: {}", path.display())]
    NotAFolder { path: PathBuf, named_by: &'static str },
    #[error("{named_by} cannot be used: {}: {source}", path.display())]
    Unusable { path: PathBuf, named_by: &'static str, source: io::Error },
}

impl Location {
    /// The folder given on the command line, otherwise the one that the environment names, otherwise `here` if it is a
    /// project, otherwise the nearest folder above it with a project file. A bare `tools/` somewhere above does not count.
    pub fn find(
        flag: Option<&Path>,
        variable: Option<&Path>,
        here: Option<&Path>,
    ) -> Result<Self, LocationError> {
        let named = flag
            .map(|path| (path, "--project-root"))
            .or_else(|| variable.map(|path| (path, "MCPBASH_PROJECT_ROOT")));
        if let Some((path, named_by)) = named {
            let found = path.canonicalize().and_then(|folder| Ok((folder.metadata()?.is_dir(), folder)));
            return match found {
                Ok((true, folder)) => Ok(Self::Folder(folder)),
                Ok((false, _)) => Err(LocationError::NotAFolder { path: path.to_owned(), named_by }),
                Err(source) => Err(match source.kind() {
                    io::ErrorKind::NotFound => LocationError::Missing { path: path.to_owned(), named_by },
                    io::ErrorKind::NotADirectory => {
                        LocationError::NotAFolder { path: path.to_owned(), named_by }
                    }
                    _ => LocationError::Unusable { path: path.to_owned(), named_by, source },
                }),
            };
        }
        let says_so = |folder: &&Path| folder.join(METADATA).is_file();
        let nearest = here.and_then(|here| match here {
            here if is_project(here) => Some(here),
            here => here.ancestors().skip(1).find(says_so),
        });
        Ok(nearest.map_or(Self::Embedded, |folder| Self::Folder(folder.to_owned())))
    }
}

/// The file that marks a folder as a project.
const METADATA: &str = "server.d/server.meta.json";

/// Any one of these folders makes the current folder a project.
const FOLDERS: [&str; 3] = ["tools", "resources", "prompts"];

fn is_project(folder: &Path) -> bool {
    folder.join(METADATA).is_file() || FOLDERS.iter().any(|name| folder.join(name).is_dir())
}

/// The message if no project was named and none was found.
pub fn no_project(here: Option<&Path>) -> String {
    let hint = here.and_then(nearby).map(|folder| format!("; {} looks like one", folder.display()));
    let hint =
        hint.or_else(|| here.and_then(import_hint).map(|hint| format!("; {hint}"))).unwrap_or_default();
    format!("no project found here: use --project-root or set MCPBASH_PROJECT_ROOT{hint}")
}

/// Reports a project that has nothing to serve while the folder above it or one inside it does.
pub(crate) fn misplaced(paths: &Paths) -> Option<Diagnostic> {
    let own = [&paths.tools, &paths.resources, &paths.prompts, &paths.server];
    if own.iter().any(|folder| folder.is_dir()) {
        return None;
    }
    let problem = match nearby(&paths.root) {
        Some(nearby) => {
            let nearby = nearby.display();
            format!("has nothing to serve; {nearby} looks like the project: use --project-root {nearby}")
        }
        None => format!("has nothing to serve; {}", import_hint(&paths.root)?),
    };
    Some(Diagnostic::new(&paths.root, problem))
}

/// A folder that looks like a project, one above or one below.
fn nearby(folder: &Path) -> Option<PathBuf> {
    /// How many folders are searched: with more of them, the first match would not help the user.
    const MOST: usize = 1000;
    if let Some(above) = folder.parent().filter(|above| is_project(above)) {
        return Some(above.to_owned());
    }
    let below = folder.read_dir().ok()?.take(MOST).flatten().map(|entry| entry.path());
    below.filter(|below| is_project(below)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_variable_over_the_nearest_parent() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for folder in ["flag", "variable", "nearest/server.d", "nearest/deep/tools", "nearest/deep/down"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        std::fs::write(top.join("nearest/server.d/server.meta.json"), "{}").unwrap();
        let (flag, variable, here) = (top.join("flag"), top.join("variable"), top.join("nearest/deep/down"));
        let find = |flag, variable| Location::find(flag, variable, Some(&here)).unwrap();
        assert_eq!(find(Some(&*flag), Some(&*variable)), Location::Folder(flag.clone()));
        assert_eq!(find(None, Some(&*variable)), Location::Folder(variable.clone()));
        assert_eq!(find(None, None), Location::Folder(top.join("nearest")));
    }

    #[test]
    fn a_bare_folder_of_tools_counts_only_where_one_stands() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("project/tools/deep")).unwrap();
        let find = |folder: &str| Location::find(None, None, Some(&top.join(folder))).unwrap();
        assert_eq!(find("project"), Location::Folder(top.join("project")));
        for folder in ["project/tools", "project/tools/deep"] {
            assert_eq!(find(folder), Location::Embedded, "{folder}");
        }
        let told = |folder: &str| no_project(Some(&top.join(folder)));
        for folder in ["", "project/tools"] {
            assert!(
                told(folder).contains(&format!("{} looks like one", top.join("project").display())),
                "{folder}"
            );
        }
        assert!(!told("project/tools/deep").contains("looks like"));
    }

    #[test]
    fn a_named_folder_must_exist() {
        let error = Location::find(None, Some(Path::new("/does/not/exist")), None).unwrap_err();
        assert_eq!(error.to_string(), "MCPBASH_PROJECT_ROOT does not exist: /does/not/exist");
        let temp = tempfile::tempdir().unwrap();
        let (file, circle) = (temp.path().join("file"), temp.path().join("circle"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        let told = |path: &Path| Location::find(Some(path), None, None).unwrap_err().to_string();
        for path in [&file, &file.join("below")] {
            assert_eq!(told(path), format!("--project-root is not a folder: {}", path.display()));
        }
        let circular = told(&circle);
        assert!(
            circular.starts_with("--project-root cannot be used: ") && circular.contains("circle: "),
            "{circular}"
        );
    }
}
