//! Verification of a vendored program: whether it is the one in its lock, and can be started.

use super::Places;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::bundle::programs::ProgramFile;
use crate::open::package_facts::{optional, packaging_error};
use crate::terminal::print::print;
use mcp_bash_packaging::{Lock, VENDORED_LAUNCHER, sha256};
use mcp_bash_terminal::harmless;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;

/// Exit 0 if everything fits, 1 with the reason otherwise.
pub(super) fn verify(places: &Places, is_quiet: bool) -> Result<ExitCode, Error> {
    let failed = |words: String| Error::of_command(Exit::Failed, words);
    let Some(text) = optional(&places.lock)? else {
        return Err(failed(format!("there is no {}; run `mcp-bash vendor`", places.lock.display())));
    };
    if Lock::is_of_scripts(&text) {
        return Err(failed(format!(
            "{} is the lock of mcp-bash in bash, whose files this program cannot verify; remove {} and run `mcp-bash vendor`",
            places.lock.display(),
            places.folder.display()
        )));
    }
    let lock = Lock::parse(&text).map_err(packaging_error)?;
    let program = ProgramFile::read(&places.program)
        .map_err(|error| failed(format!("{error}; `mcp-bash vendor --upgrade` writes it again")))?;
    let again = "`mcp-bash vendor --upgrade` writes it again";
    if sha256(&program.bytes) != lock.sha256 {
        return Err(failed(format!(
            "{} was changed: its SHA-256 is not that of its lock; {again}",
            places.program.display()
        )));
    }
    if program.version != lock.version || program.program.target() != lock.target {
        return Err(failed(format!("{} does not describe its program; {again}", places.lock.display())));
    }
    let mode = places.program.metadata().map(|file| file.permissions().mode()).unwrap_or_default();
    if mode & 0o100 == 0 || mode & 0o022 != 0 {
        let words = "must be executable, and writable by its owner only; run `chmod 755`";
        return Err(failed(format!("{} {words}", places.program.display())));
    }
    if optional(&places.launcher)?.as_deref() != Some(VENDORED_LAUNCHER) {
        return Err(failed(format!("{} is missing or was changed; {again}", places.launcher.display())));
    }
    if !is_quiet {
        print(&harmless(&format!(
            "{} is mcp-bash {}, {}\n",
            places.program.display(),
            lock.version,
            lock.target
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
