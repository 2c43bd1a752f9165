//! Embedded project: the getting-started project inside the binary.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../embedded/", $path)))),*]
    };
}

const FILES: [(&str, &str); 6] = embedded![
    "server.d/server.meta.json",
    "server.d/server.instructions.md",
    "tools/countdown/tool.meta.json",
    "tools/countdown/tool.sh",
    "tools/getting-started/tool.meta.json",
    "tools/getting-started/tool.sh",
];

/// Whether all files of the project are in `folder`.
pub fn is_staged(folder: &Path) -> bool {
    FILES.iter().all(|(path, _)| folder.join(path).is_file())
}

/// Writes the project into `folder`, so that its scripts run like those of any project. It is not group- or world-writable,
/// whatever the umask: otherwise nothing in it would run.
pub fn stage_embedded(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES.into_iter().chain([("VERSION", env!("CARGO_PKG_VERSION"))]) {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let mode = if text.starts_with("#!") { 0o700 } else { 0o600 };
        // Staged earlier.
        let _ = std::fs::remove_file(&file);
        let mut written = mcp_bash_files::create_new(&file, mode)?;
        written.write_all(text.as_bytes())?;
        written.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(())
}
