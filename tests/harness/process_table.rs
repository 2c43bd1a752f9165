//! Process table, as tests read it: from `/proc` on Linux, and with `ps` on other systems. `scripts/portable` uses `ps` on
//! Linux.
//!
//! The tests of the runner include this file too.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use proc as source;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use ps as source;

/// A process, which may be a zombie.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// `R` runs or is ready to run, `S` sleeps, `Z` is a zombie. Other letters depend on the system.
    pub(crate) state: char,
    /// The arguments, with spaces between them.
    pub(crate) command: String,
}

impl Process {
    pub(crate) fn is_zombie(&self) -> bool {
        self.state == 'Z'
    }

    /// The process that kills the calls of a server that was killed.
    pub(crate) fn is_warden(&self) -> bool {
        self.command.ends_with(" __warden")
    }
}

pub(crate) fn all() -> Vec<Process> {
    source::all()
}

/// `None` if there is no process with this pid, not even a zombie.
pub(crate) fn of(pid: u32) -> Option<Process> {
    source::of(pid)
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod proc {
    use super::Process;
    use std::fs;

    pub(super) fn all() -> Vec<Process> {
        let entries = fs::read_dir("/proc").expect("a list of processes").flatten();
        entries.filter_map(|entry| of(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    pub(super) fn of(pid: u32) -> Option<Process> {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses, and may contain parentheses itself.
        let mut fields = status.rsplit(')').next()?.split_whitespace();
        let (state, parent) = (fields.next()?.chars().next()?, fields.next()?.parse().ok()?);
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&arguments).replace('\0', " ").trim_end().to_owned();
        Some(Process { pid, parent, state, command })
    }
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod ps {
    use super::Process;
    use std::process::Command;

    const COLUMNS: [&str; 9] = ["-ww", "-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "command="];

    pub(super) fn all() -> Vec<Process> {
        let processes = listed(&["-ax"]);
        let us = std::process::id();
        assert!(processes.iter().any(|process| process.pid == us), "`ps` does not list this process");
        processes
    }

    pub(super) fn of(pid: u32) -> Option<Process> {
        listed(&["-p", &pid.to_string()]).pop()
    }

    fn listed(options: &[&str]) -> Vec<Process> {
        let output = Command::new("ps").args(options).args(COLUMNS).output().expect("`ps` runs");
        String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect()
    }

    /// Reads a line. The command is its rest, spaces included.
    fn parse(line: &str) -> Option<Process> {
        let (pid, rest) = line.trim_start().split_once(' ')?;
        let (parent, rest) = rest.trim_start().split_once(' ')?;
        let (state, command) = rest.trim_start().split_once(' ')?;
        Some(Process {
            pid: pid.parse().ok()?,
            parent: parent.parse().ok()?,
            state: state.chars().next()?,
            command: command.trim().to_owned(),
        })
    }
}
