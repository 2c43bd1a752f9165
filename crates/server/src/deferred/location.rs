//! Default task folder: where the tasks of a project are stored, unless the operator names a place.

use sha2::{Digest as _, Sha256};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The default folder for tasks of a project: one per project in the state folder of the user. `None` if the user has no home.
pub(super) fn default_task_folder(project: &Path) -> Option<PathBuf> {
    folder(project, |name| std::env::var_os(name))
}

fn folder(project: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let states = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let digest = Sha256::digest(project.as_os_str().as_bytes());
    let digest = digest.first_chunk().copied().map_or(0, u64::from_be_bytes);
    Some(states.join("mcp-bash").join(format!("{name}-{digest:016x}")).join("tasks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(project: &str, variables: &[(&str, &str)]) -> Option<PathBuf> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        folder(Path::new(project), variable)
    }

    #[test]
    fn projects_of_one_name_have_folders_of_their_own() {
        let home = [("HOME", "/home/me")];
        let [one, other] = ["/a/ops", "/b/ops"].map(|project| place(project, &home).unwrap());
        assert!(
            one.starts_with("/home/me/.local/state/mcp-bash") && one.ends_with("tasks"),
            "{}",
            one.display()
        );
        assert!(one.to_string_lossy().contains("/ops-") && one != other);
        let states = [("XDG_STATE_HOME", "/states"), ("HOME", "/home/me")];
        assert!(place("/a/ops", &states).unwrap().starts_with("/states/mcp-bash"));
        let relative = [("XDG_STATE_HOME", "states"), ("HOME", "/home/me")];
        assert_eq!(place("/a/ops", &relative), Some(one));
        assert_eq!(place("/a/ops", &[]), None);
    }
}
