//! Warden start.

#[cfg(all(
    target_os = "linux",
    not(mcp_bash_portable),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod sharing_memory;
/// Not implemented for other systems and processors.
#[cfg(not(all(
    target_os = "linux",
    not(mcp_bash_portable),
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod sharing_memory {
    pub(super) struct Shared;

    pub(super) fn start(
        _: &super::Program,
        _: &super::PipeReader,
        _: &super::File,
    ) -> std::io::Result<(super::Pid, Box<Shared>)> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

use super::{PID, WARDEN_ARGUMENT};
use crate::{mark, system_calls};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

/// A running warden, which is a child of this process.
pub(super) struct Warden {
    process: Pid,
    /// Closed by the kernel when this process ends, which wakes the warden.
    _lifetime: PipeWriter,
    /// The part of our memory that the warden uses.
    _shared: Option<Box<sharing_memory::Shared>>,
}

impl Warden {
    /// Starts it, and stores its pid in [`PID`].
    pub(super) fn start(ledger: &File) -> io::Result<Self> {
        let (end, lifetime) = io::pipe()?;
        let program = Program::ours()?;
        if let Ok((process, shared)) = sharing_memory::start(&program, &end, ledger) {
            return Ok(Self { process, _lifetime: lifetime, _shared: Some(shared) });
        }
        let process = program.start(end, ledger)?;
        PID.store(process.as_raw_nonzero().get(), Ordering::Release);
        Ok(Self { process, _lifetime: lifetime, _shared: None })
    }

    /// Whether it has not ended. Reaps it if it has.
    pub(super) fn is_alive(&self) -> bool {
        matches!(waitpid(Some(self.process), WaitOptions::NOHANG), Ok(None))
    }

    /// Kills it, and waits until it has ended.
    pub(super) fn end(self) {
        let _ = kill_process(self.process, Signal::KILL);
        let _ = rustix::io::retry_on_intr(|| waitpid(Some(self.process), WaitOptions::empty()));
    }
}

/// This program, to be started as the warden.
struct Program {
    path: PathBuf,
    name: PathBuf,
    /// Its only environment variable: the mark of the outer server, if this one runs in a call of another.
    mark: Option<&'static OsStr>,
}

impl Program {
    fn ours() -> io::Result<Self> {
        let name = std::env::current_exe()?;
        // The file of this program may have been replaced since it was started; this link always leads to the one
        // that runs.
        let path = if cfg!(all(target_os = "linux", not(mcp_bash_portable))) {
            Path::new("/proc/self/exe").to_owned()
        } else {
            name.clone()
        };
        Ok(Self { path, name, mark: mark::inherited() })
    }

    fn start(self, end: PipeReader, ledger: &File) -> io::Result<Pid> {
        let mut command = Command::new(self.path);
        command
            .arg0(self.name)
            .arg(WARDEN_ARGUMENT)
            .env_clear()
            .envs(self.mark.map(|value| (mark::VARIABLE, value)))
            .current_dir("/")
            .stdin(end)
            .stdout(ledger.try_clone()?)
            .stderr(Stdio::null())
            // Signals of a terminal or for our process group do not reach the warden.
            .process_group(0);
        system_calls::keep_descriptors_to_ourselves();
        system_calls::start_ignoring_termination_signals(&mut command);
        let process = command.spawn()?;
        Pid::from_raw(process.id().cast_signed()).ok_or_else(|| io::Error::other("the warden has no pid"))
    }
}
