//! Log files: the folder of logs, and in a CI build a description of the environment.

use mcp_bash_scripts::Scripts;
use mcp_bash_settings::LogSettings;
use serde_json::json;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf, absolute};

/// Makes paths absolute, and in a CI build sets those that are not set.
pub(crate) fn settle(logs: &mut LogSettings) {
    if logs.ci && logs.temporary.is_none() {
        let of_build = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let workspace = || of_build("GITHUB_WORKSPACE").map(|folder| folder.join(".mcpbash-tmp"));
        logs.temporary = of_build("RUNNER_TEMP").or_else(workspace);
    }
    if logs.ci && logs.folder.is_none() {
        let temporary = logs.temporary.clone().unwrap_or_else(std::env::temp_dir);
        logs.folder = Some(temporary.join(format!("mcpbash.logs.{}", std::process::id())));
    }
    for path in [&mut logs.folder, &mut logs.temporary].into_iter().flatten() {
        *path = absolute(&*path).unwrap_or_else(|_| path.clone());
    }
}

/// The files in the folder of logs.
pub(crate) struct LogFiles {
    /// The events of the server.
    pub(crate) log: PathBuf,
    /// The output of scripts, which is not an event.
    pub(crate) script_output: PathBuf,
}

/// Creates the folders; new ones can be entered only by their owner. Returns the files that belong there.
pub(crate) fn make_folders(logs: &LogSettings) -> Result<Option<LogFiles>, (PathBuf, io::Error)> {
    for folder in [&logs.temporary, &logs.folder].into_iter().flatten() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| (folder.clone(), source))?;
    }
    Ok(logs.folder.as_ref().map(|folder| LogFiles {
        log: folder.join("mcp-bash.log"),
        script_output: folder.join("script-output.log"),
    }))
}

/// Describes the server's environment in a CI build: sizes and names, but no values of variables.
pub(crate) fn describe_surroundings(scripts: &Scripts) -> io::Result<()> {
    let logs = &scripts.settings().logs;
    let Some(folder) = logs.folder.as_ref().filter(|_| logs.ci) else { return Ok(()) };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let shown =
        |folder: Option<&PathBuf>| folder.map(|folder| folder.display().to_string()).unwrap_or_default();
    let bytes: usize = std::env::vars_os().map(|(name, value)| name.len() + value.len() + 2).sum();
    let snapshot = json!({
        "bashVersion": scripts.bash_version().unwrap_or_else(|| "unknown".to_owned()),
        "os": std::env::consts::OS,
        "cwd": std::env::current_dir().unwrap_or_default(),
        "pathCount": folders.len(),
        "pathFirst": shown(folders.first()),
        "pathLast": shown(folders.last()),
        "pathBytes": path.len(),
        "envBytes": bytes,
        "jsonTool": "jq",
        "jsonToolBin": std::env::current_exe().unwrap_or_default(),
    });
    write_once(&folder.join("env-snapshot.json"), &format!("{snapshot}\n"))
}

fn write_once(path: &Path, text: &str) -> io::Result<()> {
    match mcp_bash_files::create_new(path, 0o600) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
