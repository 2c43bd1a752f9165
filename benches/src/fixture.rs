//! Fixtures: the project folders that mcp-bash serves while it is measured.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Writes a project with the single tool `hi` into `root`.
pub fn write_project(root: &Path) -> io::Result<()> {
    write_tool(root, "hi", "echo hi").map(drop)
}

/// Writes a tool with minimal metadata, whose shell script runs these `commands`. Returns the script's path.
pub fn write_tool(root: &Path, name: &str, commands: &str) -> io::Result<PathBuf> {
    let meta =
        format!(r#"{{"name":"{name}","description":"Says {name}","inputSchema":{{"type":"object"}}}}"#);
    write_files(&root.join("tools").join(name), commands, &meta)
}

/// Writes a tool with a bash script. Returns the script's path.
pub fn write_bash_tool(root: &Path, name: &str, body: &str) -> io::Result<PathBuf> {
    let script = write_tool(root, name, "")?;
    fs::write(&script, format!("#!/bin/bash\n{body}\n"))?;
    Ok(script)
}

/// Writes an executable that provides one tool with its own name. Returns its path.
pub fn write_provider(root: &Path, name: &str) -> io::Result<PathBuf> {
    let path = root.join("tools").join(format!("{name}.sh"));
    fs::create_dir_all(root.join("tools"))?;
    let listed = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let said = r#"{"content":[{"type":"text","text":"hi"}]}"#;
    fs::write(
        &path,
        format!("#!/bin/sh\ncase $1 in\nlist) echo '{listed}' ;;\n{name}) echo '{said}' ;;\nesac\n"),
    )?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// Writes `count` tools with long descriptions. Returns the metadata file of the middle one.
pub fn write_many(root: &Path, count: u32) -> io::Result<PathBuf> {
    let folder = |number: u32| root.join(format!("tools/{number:05}"));
    for number in 0..count {
        write_files(&folder(number), "echo hi", &long_metadata(number, 0))?;
    }
    Ok(folder(count / 2).join(METADATA))
}

/// The name of the metadata file of every tool here.
pub const METADATA: &str = "tool.meta.json";

/// About a kilobyte of metadata, typical of a tool with a handful of arguments. Another `edition` of the same
/// tool has another description.
pub fn long_metadata(number: u32, edition: u32) -> String {
    format!(
        r#"{{
  "name": "report-{number:05}",
  "title": "Report number {number}",
  "description": "Collects the figures of department {number} and returns them as a table (edition {edition}).",
  "inputSchema": {{
    "type": "object",
    "properties": {{
      "period": {{ "type": "string", "enum": ["day", "week", "month", "year"], "description": "What one row stands for" }},
      "from": {{ "type": "string", "format": "date", "description": "The first day that counts" }},
      "until": {{ "type": "string", "format": "date", "description": "The last day that counts" }},
      "columns": {{ "type": "array", "items": {{ "type": "string" }}, "maxItems": 20 }},
      "limit": {{ "type": "integer", "minimum": 1, "maximum": 10000, "default": 100 }},
      "verbose": {{ "type": "boolean", "default": false }}
    }},
    "required": ["period", "from"],
    "additionalProperties": false
  }},
  "annotations": {{ "readOnlyHint": true, "openWorldHint": false }},
  "timeoutSecs": 60
}}
"#
    )
}

fn write_files(folder: &Path, commands: &str, meta: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let script = folder.join("tool.sh");
    fs::write(&script, format!("#!/bin/sh\n{commands}\n"))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    fs::write(folder.join(METADATA), meta)?;
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_metadata_is_a_kilobyte_of_json() {
        let text = long_metadata(7, 1);
        assert!((900..1200).contains(&text.len()), "{} bytes", text.len());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["name"], "report-00007");
    }
}
