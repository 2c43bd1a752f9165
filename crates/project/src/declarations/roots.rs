//! Roots: the folders that scripts may work in, as named by the client, the user or the project itself.

use crate::ground::json::{JsonError, LONGEST};
use crate::ground::optional::believed_text;
use crate::trust;
use crate::{Diagnostic, Paths};
use mcp_bash_uri::{FileUri, FileUriError};
use mcp_bash_wire::write;
use serde::Deserialize;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A folder, or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub name: String,
    /// Absolute, without symlinks or `..`.
    pub path: PathBuf,
}

/// Why a root, or the roots of a project, cannot be used.
#[derive(Debug, Error)]
pub enum RootError {
    #[error(transparent)]
    Path(#[from] io::Error),
    #[error(transparent)]
    Uri(#[from] FileUriError),
    #[error("it is relative to nothing we know")]
    Relative,
    #[error("MCPBASH_ROOTS (or --roots) names {0}, which cannot be used: {1}; no path is allowed")]
    InSetting(String, io::Error),
    #[error("MCPBASH_ROOTS (or --roots) names no folder; no path is allowed")]
    EmptySetting,
    #[error("config/roots.json cannot be used; no path is allowed until it is fixed")]
    InFile,
    #[error("{refused}: {0}", refused = Self::InFile)]
    FileDistrusted(trust::Distrust),
    #[error("the project cannot be a root: {0}")]
    Project(io::Error),
}

#[derive(Deserialize)]
struct Listed {
    roots: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    uri: Option<String>,
    path: Option<String>,
    name: Option<String>,
}

/// The roots in a client's answer to `roots/list`, and the problems with those that cannot be used. No roots if it is not a
/// valid answer.
pub fn of_client(result: &str) -> (Option<Vec<Root>>, Vec<String>) {
    let listed: Listed = match serde_json::from_str(result) {
        Ok(listed) => listed,
        Err(error) => return (None, vec![format!("the client's roots cannot be read: {error}")]),
    };
    let (mut roots, mut known, mut problems) = (Vec::new(), HashSet::new(), Vec::new());
    for named in listed.roots {
        let uri = named.uri.unwrap_or_default();
        match local_path(&uri).and_then(|path| Ok(root(&path, named.name)?)) {
            Ok(root) if known.insert(root.path.clone()) => roots.push(root),
            Ok(_) => {}
            Err(problem) => problems.push(format!("the root {uri} is ignored: {problem}")),
        }
    }
    (Some(roots), problems)
}

/// The path that a client's URI names.
fn local_path(uri: &str) -> Result<PathBuf, RootError> {
    let file = FileUri::parse(uri)?;
    if file.is_relative() {
        return Err(RootError::Relative);
    }
    Ok(PathBuf::from(OsStr::from_bytes(file.unix())))
}

/// The roots of a project whose client names none: those of the setting, otherwise those of `config/roots.json`, otherwise
/// the project itself. The error says why no path is allowed: a wrong value was meant to keep scripts inside.
pub fn of_project(
    paths: &Paths,
    setting: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Root>, RootError> {
    if let Some(setting) = setting {
        return of_setting(paths, setting);
    }
    let configured = configured(paths, diagnostics)?;
    if !configured.is_empty() {
        return Ok(configured);
    }
    root(&paths.root, None).map(|root| vec![root]).map_err(RootError::Project)
}

fn of_setting(paths: &Paths, setting: &str) -> Result<Vec<Root>, RootError> {
    let mut roots = Vec::new();
    for path in setting.split(':').filter(|path| !path.is_empty()) {
        let found = root(&paths.root.join(path), None);
        let found = found.map_err(|error| RootError::InSetting(path.to_owned(), error))?;
        add(&mut roots, found);
    }
    if roots.is_empty() { Err(RootError::EmptySetting) } else { Ok(roots) }
}

/// The roots of `config/roots.json`, none if there is no such file. A wrong entry is reported, and the others are used; if
/// there is no other, or the file cannot be read, no path is allowed.
fn configured(paths: &Paths, diagnostics: &mut Vec<Diagnostic>) -> Result<Vec<Root>, RootError> {
    let file = paths.root.join("config/roots.json");
    let known = diagnostics.len();
    let Some(text) = believed_text(&file, &paths.root, LONGEST, diagnostics) else {
        if diagnostics.len() > known {
            return Err(RootError::InFile);
        }
        // A missing file is not reported, unless another user could have removed it.
        let folder = file.parent().unwrap_or(&file);
        let judged = trust::judge_folder_if_any(folder, &paths.root);
        return judged.map(|()| Vec::new()).map_err(RootError::FileDistrusted);
    };
    let listed: Listed = serde_json::from_str(&text).map_err(|error| {
        diagnostics.push(Diagnostic::new(&file, format!("cannot be used: {}", JsonError::from(error))));
        RootError::InFile
    })?;
    let (mut roots, is_named) = (Vec::new(), !listed.roots.is_empty());
    for (index, named) in listed.roots.into_iter().enumerate() {
        let Some(path) = named.path.filter(|path| !path.is_empty()) else {
            let problem = format!("`roots[{index}]` is ignored: it has no `path`");
            diagnostics.push(Diagnostic::new(&file, problem));
            continue;
        };
        match root(&paths.root.join(&path), named.name) {
            Ok(root) => add(&mut roots, root),
            Err(problem) => {
                let problem = format!("`roots[{index}]` ({path}) is ignored: {problem}");
                diagnostics.push(Diagnostic::new(&file, problem));
            }
        }
    }
    if roots.is_empty() && is_named { Err(RootError::InFile) } else { Ok(roots) }
}

fn root(path: &Path, name: Option<String>) -> io::Result<Root> {
    let path = path.canonicalize()?;
    let own = || path.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(Root { name: name.filter(|name| !name.is_empty()).unwrap_or_else(own), path })
}

/// Adds a root, unless its path is there already.
fn add(roots: &mut Vec<Root>, root: Root) {
    if !roots.iter().any(|known| known.path == root.path) {
        roots.push(root);
    }
}

/// The roots as a script receives them: a JSON array.
pub fn to_json(roots: &[Root]) -> String {
    let one = |root: &Root| {
        let uri = FileUri::of_unix(root.path.as_os_str().as_bytes());
        let path = root.path.to_string_lossy();
        let members = [("uri", &*uri), ("name", &*root.name), ("path", &*path)];
        let members = members.map(|(name, text)| format!("\"{name}\":{}", write::string(text)));
        format!("{{{}}}", members.join(","))
    };
    format!("[{}]", roots.iter().map(one).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_without_a_path_is_not_the_whole_project() {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().canonicalize().unwrap();
        for folder in ["config", "data"] {
            std::fs::create_dir(project.join(folder)).unwrap();
        }
        let found = |entries: &str| {
            std::fs::write(project.join("config/roots.json"), format!("{{\"roots\": [{entries}]}}")).unwrap();
            let mut diagnostics = Vec::new();
            let roots = of_project(&Paths::of(&project), None, &mut diagnostics);
            let roots = roots.map(|roots| roots.into_iter().map(|root| root.path).collect::<Vec<_>>());
            (roots.ok(), diagnostics.iter().map(ToString::to_string).collect::<String>())
        };
        for entry in [r#"{"pth": "data"}"#, r#"{"path": ""}"#, r#"{"uri": "file:///srv"}"#] {
            let (roots, told) = found(entry);
            assert!(
                roots.is_none() && told.contains("`roots[0]` is ignored: it has no `path`"),
                "{entry}: {told}"
            );
            let (roots, _) = found(&format!(r#"{{"path": "data"}}, {entry}"#));
            assert_eq!(roots, Some(vec![project.join("data")]), "{entry}");
        }
    }
}
