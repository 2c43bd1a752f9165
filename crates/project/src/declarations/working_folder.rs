//! Working directory: `cwd` in the metadata of a tool.

use crate::Paths;
use crate::declarations::error::{EntryError, wrong_value};
use std::path::{Component, Path, PathBuf};

/// Where a tool runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WorkingFolder {
    /// In the folder of the project.
    #[default]
    Project,
    /// In the folder of its script.
    Tool,
    /// In a folder of the project, by its path below the project.
    Below(PathBuf),
}

impl WorkingFolder {
    pub(crate) fn read(written: Option<&str>) -> Result<Self, EntryError> {
        match written {
            None | Some("project") => Ok(Self::Project),
            Some("tool") => Ok(Self::Tool),
            Some(path) if stays_below(Path::new(path)) => Ok(Self::Below(path.into())),
            Some(path) => {
                let wanted = "be `project`, `tool` or the path of a folder below the project";
                let remedy = "; a folder that is elsewhere is an argument of the script";
                Err(wrong_value("cwd", wanted, format!("`{path}`"), remedy))
            }
        }
    }

    /// The folder, for a tool with this script.
    pub fn path(&self, script: &Path, paths: &Paths) -> PathBuf {
        match self {
            Self::Project => paths.root.clone(),
            Self::Tool => script.parent().unwrap_or(&paths.root).to_owned(),
            Self::Below(path) => paths.root.join(path),
        }
    }

    /// The metadata form, unless it is the default.
    pub(crate) fn written(&self) -> Option<&str> {
        match self {
            Self::Project => None,
            Self::Tool => Some("tool"),
            Self::Below(path) => path.to_str(),
        }
    }
}

fn stays_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_project_the_tool_or_a_folder_of_the_project_and_nothing_else() {
        let (paths, script) = (Paths::of(Path::new("/p")), Path::new("/p/tools/a/tool.sh"));
        let folder = |written| WorkingFolder::read(written).ok().map(|folder| folder.path(script, &paths));
        assert_eq!(folder(None), Some("/p".into()));
        assert_eq!(folder(Some("project")), Some("/p".into()));
        assert_eq!(folder(Some("tool")), Some("/p/tools/a".into()));
        assert_eq!(folder(Some("data/in")), Some("/p/data/in".into()));
        for elsewhere in ["/etc", "..", "data/../../x"] {
            assert!(folder(Some(elsewhere)).is_none(), "{elsewhere}");
        }
    }
}
