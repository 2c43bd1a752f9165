//! The getting-started project inside the binary.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
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

/// Writes the project into `folder`, so that its scripts can be run like anyone's.
pub fn stage_embedded(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES.into_iter().chain([("VERSION", env!("CARGO_PKG_VERSION"))]) {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, text)?;
        if text.starts_with("#!") {
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
