//! Where the files of the project are for a tool that runs elsewhere.

use crate::error::LauncherError;
use crate::members::Members;
use std::path::{Component, Path};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// They are sent with the call: the tool with its folder, `lib` of the project, the SDK, and these paths.
    Carried { more: Vec<String> },
    /// They are there already, in this folder, or in one with the same path as here.
    There { folder: Option<String> },
}

impl Files {
    pub(crate) fn read(members: Members<'_>) -> Result<Self, LauncherError> {
        let (more, folder) = (members.list("carry")?, members.text("folder")?);
        match members.text("files")?.as_deref() {
            None | Some("carry") => {
                if folder.is_some() {
                    return Err(LauncherError::Pointless { key: "folder", files: "carry" });
                }
                let more = more.unwrap_or_default();
                match more.iter().find(|path| !is_inside(path)) {
                    Some(path) => Err(LauncherError::Outside(path.clone())),
                    None => Ok(Self::Carried { more }),
                }
            }
            Some("there") => {
                if more.is_some() {
                    return Err(LauncherError::Pointless { key: "carry", files: "there" });
                }
                if folder.as_deref().is_some_and(|folder| !folder.starts_with('/')) {
                    return Err(LauncherError::Value {
                        key: "folder",
                        wanted: "a path that begins with `/`",
                    });
                }
                Ok(Self::There { folder })
            }
            Some(_) => Err(LauncherError::Value { key: "files", wanted: "`carry` or `there`" }),
        }
    }
}

/// Whether a path names something inside the project.
fn is_inside(path: &str) -> bool {
    let parts = Path::new(path).components();
    !path.is_empty() && parts.into_iter().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
