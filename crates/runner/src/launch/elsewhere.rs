//! Process start with the standard library, on platforms where processes carry no mark.

#![expect(unsafe_code, reason = "no safe interface lets a child confine itself")]

use super::{Launch, Started};
use crate::cgroup::CallGroup;
use crate::mark::CallNumber;
use mcp_bash_sandbox::Step;
use rustix::io::{FdFlags, dup2, fcntl_setfd};
use rustix::process::Pid;
use std::ffi::OsStr;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

pub(super) fn start(launch: &Launch, _call: CallNumber, _group: Option<&CallGroup>) -> io::Result<Started> {
    let [input, output, errors] = &launch.streams;
    let stream = |stream: &OwnedFd| Ok::<_, io::Error>(Stdio::from(stream.try_clone()?));
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
    let steps = launch.confinement.steps();
    if !steps.is_empty() {
        let steps = steps.to_vec();
        // SAFETY: Each step is one system call, which neither allocates nor locks.
        unsafe {
            command.pre_exec(move || Ok(steps.iter().try_for_each(Step::apply)?));
        }
    }
    if let Some(further) = &launch.further {
        let further = further.try_clone()?;
        // SAFETY: One system call, which neither allocates nor locks.
        unsafe {
            command.pre_exec(move || become_descriptor_3(&further));
        }
    }
    let inherited: Vec<_> = launch.environment.descriptors().collect();
    if !inherited.is_empty() {
        // SAFETY: One system call for each, which neither allocates nor locks.
        unsafe {
            command.pre_exec(move || inherited.iter().try_for_each(|descriptor| inherit(*descriptor)));
        }
    }
    let child = command.spawn().map_err(|why| named(why, steps))?;
    Ok(Started { pid: Pid::from_child(&child), pidfd: None })
}

/// Runs in the child: the previous descriptor 3 is not needed any more.
fn become_descriptor_3(stream: &OwnedFd) -> io::Result<()> {
    if stream.as_raw_fd() == 3 {
        return Ok(fcntl_setfd(stream, FdFlags::empty())?);
    }
    // SAFETY: It is never dropped, and nothing else in the child uses this descriptor.
    let mut place = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(3) });
    Ok(dup2(stream, &mut place)?)
}

/// Runs in the child: leaves a descriptor open for its program.
fn inherit(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: The environment of the launch keeps it open until the child runs.
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(fcntl_setfd(descriptor, FdFlags::empty())?)
}

/// Adds the steps of the confinement to an error of the child, which can only report an `errno`.
fn named(why: io::Error, steps: &[Step]) -> io::Error {
    if steps.is_empty() {
        return why;
    }
    let steps: Vec<_> = steps.iter().map(Step::to_string).collect();
    io::Error::new(why.kind(), format!("{why} (it was also to {})", steps.join(" and ")))
}
