//! Programs of bundles: which file goes into the bundle of which platform.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_packaging::{Architecture, Platform, Program, Version};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// The largest program, in bytes.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// A file that is mcp-bash.
pub(crate) struct ProgramFile {
    pub(crate) program: Program,
    pub(crate) version: Version,
    pub(crate) bytes: Vec<u8>,
}

/// The messages complete "mcp-bash: ...".
#[derive(Debug, ThisError)]
pub(crate) enum ProgramError {
    #[error("failed to read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is no program for Linux or macOS on x86-64 or ARM", .0.display())]
    NoProgram(PathBuf),
    #[error("{} is another program, not mcp-bash", .0.display())]
    NotOurs(PathBuf),
    #[error("failed to find this program: {0}")]
    Own(io::Error),
    #[error(
        "there is no program for {}: name one with `--binary FILE`, or make a bundle without a program with `--no-binary`",
        .0.name()
    )]
    None(Platform),
    #[error("two programs are for {0}; name one of them")]
    Two(String),
    #[error("`--binary {}` is for {}, and `--platform` wants another", path.display(), platform.name())]
    Unwanted { path: PathBuf, platform: Platform },
    #[error(
        "there is no mcp-bash for Windows. In WSL it cannot serve an unpacked bundle either: files in Windows folders are \
         writable by every user there, and such files are never run. Install the project inside WSL, and give the client \
         `wsl.exe` as its command"
    )]
    Windows,
}

impl From<ProgramError> for Error {
    fn from(error: ProgramError) -> Self {
        let exit = match error {
            ProgramError::Read { .. } | ProgramError::Own(_) => Exit::Failed,
            ProgramError::Windows => Exit::Refused,
            _ => Exit::Usage,
        };
        Self::of_command(exit, error)
    }
}

impl ProgramFile {
    pub(crate) fn read(path: &Path) -> Result<Self, ProgramError> {
        let bytes = mcp_bash_files::read(path, MOST_BYTES);
        let bytes = bytes.map_err(|source| ProgramError::Read { path: path.to_owned(), source })?;
        let program = Program::read(&bytes).ok_or_else(|| ProgramError::NoProgram(path.to_owned()))?;
        let version = program.version.clone().ok_or_else(|| ProgramError::NotOurs(path.to_owned()))?;
        Ok(Self { program, version, bytes })
    }

    /// The program that is running.
    pub(crate) fn own() -> Result<Self, ProgramError> {
        Self::read(&std::env::current_exe().map_err(ProgramError::Own)?)
    }

    /// What its users should know.
    pub(crate) fn notes(&self) -> Option<String> {
        let target = self.program.target();
        if self.program.is_dynamic {
            return Some(format!(
                "the program for {target} needs the C library of a machine like this one; a static one runs on every Linux \
                 (`--binary FILE`)"
            ));
        }
        let is_of_one_mac =
            self.program.platform == Platform::Darwin && self.program.architecture != Architecture::Universal;
        is_of_one_mac.then(|| {
            format!(
                "the program for {target} does not run on other Macs; the release has one for both processors, in \
                 mcp-bash-{}-universal-apple-darwin.tar.gz",
                self.version
            )
        })
    }
}

/// The programs for the wanted platforms: those that are named, otherwise this one.
pub(super) fn programs(
    files: &[PathBuf],
    wanted: Option<&[Platform]>,
) -> Result<Vec<ProgramFile>, ProgramError> {
    let mut programs = Vec::new();
    for path in files {
        let program = ProgramFile::read(path)?;
        let platform = program.program.platform;
        if wanted.is_some_and(|wanted| !wanted.contains(&platform)) {
            return Err(ProgramError::Unwanted { path: path.clone(), platform });
        }
        programs.push(program);
    }
    if files.is_empty() {
        programs.push(ProgramFile::own()?);
        programs.retain(|program| wanted.is_none_or(|wanted| wanted.contains(&program.program.platform)));
    }
    for platform in wanted.unwrap_or_default() {
        if !programs.iter().any(|program| program.program.platform == *platform) {
            return Err(ProgramError::None(*platform));
        }
    }
    let targets: Vec<String> = programs.iter().map(|program| program.program.target()).collect();
    match targets.iter().enumerate().find(|(at, target)| targets[..*at].contains(target)) {
        Some((_, target)) => Err(ProgramError::Two(target.clone())),
        None => Ok(programs),
    }
}
