//! Starts a process with the standard library, on systems where processes carry no mark.

use super::{Launch, Started};
use crate::cgroup::CallGroup;
use crate::mark::CallNumber;
use rustix::process::Pid;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

pub(super) fn start(launch: &Launch, _call: CallNumber, _group: Option<&CallGroup>) -> io::Result<Started> {
    let [input, output, errors] = &launch.streams;
    let stream = |stream: &std::os::fd::OwnedFd| Ok::<_, io::Error>(Stdio::from(stream.try_clone()?));
    let text = |text: &std::ffi::CString| OsStr::from_bytes(text.as_bytes()).to_owned();
    let mut command = Command::new(text(&launch.program));
    let variables = launch.environment.laid_out().filter_map(|variable| {
        let equals = variable.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (&variable[..equals], &variable[equals + 1..variable.len() - 1]);
        Some((OsStr::from_bytes(name), OsStr::from_bytes(value)))
    });
    command
        .arg0(text(&launch.arguments[0]))
        .args(launch.arguments[1..].iter().map(text))
        .current_dir(text(&launch.directory))
        .env_clear()
        .envs(variables)
        .stdin(stream(input)?)
        .stdout(stream(output)?)
        .stderr(stream(errors)?)
        .process_group(0);
    Ok(Started { pid: Pid::from_child(&command.spawn()?), pidfd: None })
}
