//! Tool file of an import: `tools/NAME.meta.json`.

use mcp_bash_importing::Tool;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

pub(super) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.meta.json"))
}

/// A file in place of the tool, or one that would be taken for its script.
pub(super) fn in_the_way(folder: &Path, name: &str) -> Option<PathBuf> {
    let names = [
        format!("{name}.meta.json"),
        format!("{name}.meta.yaml"),
        format!("{name}.meta.yml"),
        name.to_owned(),
    ];
    names.into_iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok())
}

/// Writes the metadata whole or not at all, and never over an existing file.
pub(super) fn write(file: &Path, tool: &Tool) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    // A group- or world-writable folder is not served, so the umask does not decide.
    DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    let text = format!("{:#}\n", tool.metadata());
    mcp_bash_files::write_new(file, 0o644, false, |opened| opened.write_all(text.as_bytes()))
}
