//! The getting-started project inside the binary.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../embedded/", $path)))),*]
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

/// Writes the project into `folder`, so that its scripts can be run like anyone's. Nobody else may write to it, whatever
/// the umask is: else nothing of it would be run.
pub fn stage_embedded(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES.into_iter().chain([("VERSION", env!("CARGO_PKG_VERSION"))]) {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        fs::write(&file, text)?;
        let mode = if text.starts_with("#!") { 0o700 } else { 0o600 };
        fs::set_permissions(&file, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}
