//! The project folder that mcp-bash serves while it is measured.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a project with the single tool `hi` into `root`.
pub fn write_project(root: &Path) -> io::Result<()> {
    let tool = root.join("tools/hi");
    fs::create_dir_all(&tool)?;
    let script = tool.join("tool.sh");
    fs::write(&script, "#!/bin/sh\necho hi\n")?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    let meta = r#"{"name":"hi","description":"Says hi","inputSchema":{"type":"object"}}"#;
    fs::write(tool.join("tool.meta.json"), meta)
}
