//! Path completion: the files of a project that begin with the typed text.

use std::path::{Component, Path};

/// The files and folders below `root` whose paths begin with `typed`, sorted. A folder ends with `/`, so that the user can
/// go on typing. Hidden ones appear once their dot is typed. Nothing outside `root` is read.
pub fn beginning_with(root: &Path, typed: &str) -> Vec<String> {
    let (folder, start) = typed.rsplit_once('/').map_or(("", typed), |(folder, start)| (folder, start));
    let mut parts = Path::new(folder).components();
    if typed.starts_with('/') || !parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Vec::new();
    }
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    // A symlink that leads out of the project is ignored.
    let place = root.join(folder).canonicalize().ok().filter(|place| place.starts_with(&root));
    let Some(names) = place.and_then(|place| place.read_dir().ok()) else { return Vec::new() };
    let before = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut found: Vec<String> = names
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_meant = name.starts_with(start) && (start.starts_with('.') || !name.starts_with('.'));
            let slash = if entry.path().is_dir() { "/" } else { "" };
            is_meant.then(|| format!("{before}{name}{slash}"))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::beginning_with;

    #[test]
    fn files_are_found_by_their_beginning_and_never_outside() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("project");
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        for file in ["src/main.sh", "src/more.sh", "src/.secret", "README.md", "../outside"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(temp.path(), root.join("out")).unwrap();
        assert_eq!(beginning_with(&root, ""), ["README.md", "out/", "src/"]);
        assert_eq!(beginning_with(&root, "src/m"), ["src/main.sh", "src/more.sh"]);
        assert_eq!(beginning_with(&root, "src/"), ["src/deep/", "src/main.sh", "src/more.sh"]);
        assert_eq!(beginning_with(&root, "src/."), ["src/.secret"]);
        for outside in ["../", "/", "out/", "src/../../", "gone/"] {
            assert!(beginning_with(&root, outside).is_empty(), "{outside}");
        }
    }
}
