//! Loaded files: the files that a program has loaded besides the script it was started for.

use super::way::{Way, judge_upwards};
use super::{Distrust, judge, judge_folder_if_any, open_without_links};
use mcp_bash_files::look;
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// Where Python keeps compiled modules, which it loads instead of their source.
const COMPILED: &str = "__pycache__";

/// Judges files that were loaded: each of them, and every folder that decides where its path leads, up to `root` if it is
/// below that. A file that is gone is not judged, and is not loaded again.
pub fn judge_loaded<'a>(files: impl IntoIterator<Item = &'a Path>, root: &Path) -> Result<(), Distrust> {
    // Programs report paths without symlinks.
    let real_root = look::canonical(root).unwrap_or_else(|_| root.to_owned());
    let mut judged = HashSet::new();
    for file in files {
        let root = if file.starts_with(root) { root } else { &real_root };
        let folder = file.parent().unwrap_or(file);
        let is_new = judged.insert(folder.to_owned());
        if let Some(opened) = open_without_links(file) {
            judge(file, &opened.metadata()?)?;
            if is_new {
                judge_upwards(folder, root)?;
            }
        } else {
            match Way::follow(file, root) {
                Ok(way) => {
                    judge(&way.end, &look::metadata(&way.end)?)?;
                    way.judge()?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Distrust::Unusable(file.to_owned(), error)),
            }
        }
        if is_new && file.extension().is_some_and(|ending| ending == "py") {
            judge_folder_if_any(&folder.join(COMPILED), root)?;
        }
    }
    Ok(())
}
