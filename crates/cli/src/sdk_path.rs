//! `mcp-bash sdk-path`: where the SDK is, for a script that is run by hand: `MCP_SDK=$(mcp-bash sdk-path) tools/x/tool.sh`.
//!
//! While a server runs, scripts find the SDK in its private folder. By hand there is no server, so the SDK is written to the
//! cache of the user, once for each version of it.

use crate::call::show;
use crate::error::Error;
use crate::exit::Exit;
use mcp_bash_scripts::SDK_FILES;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use thiserror::Error;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

const EXAMPLES: &str = "\
Examples:
  mcp-bash sdk-path
  MCP_SDK=$(mcp-bash sdk-path) MCP_TOOL_ARGS_JSON='{\"name\":\"Ada\"}' tools/hello/tool.sh";

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
enum SdkError {
    #[error("there is no place for the SDK: set HOME or XDG_CACHE_HOME")]
    NoPlace,
    #[error("failed to write the SDK to {}: {source}", folder.display())]
    Unwritten { folder: PathBuf, source: io::Error },
}

pub(crate) fn run() -> Result<ExitCode, Error> {
    show::print(&format!("{}\n", home()?.join("sdk").display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder that holds `sdk/`, complete and ours.
pub(crate) fn home() -> Result<PathBuf, Error> {
    let failed = |error| Error::of_command(Exit::Failed, error);
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let cache = cache.ok_or_else(|| failed(SdkError::NoPlace))?.join("mcp-bash");
    let folder = cache.join(concat!("sdk-", env!("CARGO_PKG_VERSION")));
    let written = if is_complete(&folder) { Ok(()) } else { write(&cache, &folder) };
    written.map_err(|source| failed(SdkError::Unwritten { folder: folder.clone(), source }))?;
    Ok(folder)
}

/// Whether all files are there as they should be, in a folder that only we can write: scripts will source them.
fn is_complete(folder: &Path) -> bool {
    let is_ours = fs::symlink_metadata(folder).is_ok_and(|folder| {
        folder.is_dir() && folder.uid() == rustix::process::geteuid().as_raw() && folder.mode() & 0o022 == 0
    });
    is_ours
        && SDK_FILES
            .iter()
            .all(|(name, text)| fs::read(folder.join("sdk").join(name)).is_ok_and(|is| is == text.as_bytes()))
}

/// Writes the files to a folder of their own, which then takes the place of what was there.
fn write(cache: &Path, folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(cache)?;
    let fresh = cache.join(format!("new-{}", std::process::id()));
    fs::DirBuilder::new().mode(0o755).create(&fresh)?;
    let written = write_files(&fresh).and_then(|()| {
        if folder.symlink_metadata().is_ok() {
            fs::rename(folder, cache.join(format!("old-{}", std::process::id())))?;
        }
        fs::rename(&fresh, folder)
    });
    // One of these is there at most; what cannot be removed harms nobody.
    let _ = fs::remove_dir_all(&fresh);
    let _ = fs::remove_dir_all(cache.join(format!("old-{}", std::process::id())));
    // Another process may have been quicker.
    if is_complete(folder) { Ok(()) } else { written }
}

fn write_files(folder: &Path) -> io::Result<()> {
    for (name, text) in SDK_FILES {
        let file = folder.join("sdk").join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}
