//! Process start: program, arguments, working directory, environment and standard streams are given here.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use linux as system;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod starters;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use elsewhere as system;

use crate::cgroup::CallGroup;
use crate::mark::CallNumber;
use crate::{Variables, system_calls};
use mcp_bash_sandbox::{Confinement, GroupLimits};
use rustix::fs::{Access, access};
use rustix::process::Pid;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) use linux::can_hold_processes;

/// A process that is ready to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    program: CString,
    /// The first is the name of the program (`argv[0]`).
    arguments: Vec<CString>,
    directory: CString,
    pub(crate) environment: Variables,
    /// Standard input, output and errors.
    streams: [OwnedFd; 3],
    /// The stream that becomes descriptor 3, if any.
    further: Option<OwnedFd>,
    confinement: Confinement,
}

/// A process that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) pid: Pid,
    /// Readable once the process has ended. `None` if the system has no pidfds.
    pub(crate) pidfd: Option<OwnedFd>,
}

impl Launch {
    pub(crate) fn new(
        program: &Path,
        arguments: &[OsString],
        directory: &Path,
        environment: Variables,
        streams: [OwnedFd; 3],
        confinement: Confinement,
    ) -> io::Result<Self> {
        let mut all = Vec::with_capacity(arguments.len() + 1);
        all.push(text(program)?);
        for argument in arguments {
            all.push(text(argument)?);
        }
        let program = match found(program, &environment) {
            Some(found) => text(found)?,
            None => all[0].clone(),
        };
        let directory = text(directory)?;
        Ok(Self { program, arguments: all, directory, environment, streams, further: None, confinement })
    }

    /// Gives `stream` to the process as descriptor 3.
    pub(crate) fn with_further(self, stream: OwnedFd) -> Self {
        Self { further: Some(stream), ..self }
    }

    /// The limits that its control group must have.
    pub(crate) fn group_limits(&self) -> GroupLimits {
        self.confinement.group_limits()
    }

    /// Starts the process as the leader of a new process group, with the mark of its call, in the control
    /// group `group`.
    pub(crate) fn start(&self, call: CallNumber, group: Option<&CallGroup>) -> io::Result<Started> {
        if let Some(name) = self.environment.impossible() {
            let problem = format!("no process can be given the variable '{}'", name.escape_debug());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        system_calls::keep_descriptors_to_ourselves();
        system::start(self, call, group)
    }
}

/// The path of a program that is named without one: looked up in the `PATH` of the process, not in that of the server.
/// `None` if it is not found, or was named with a path.
fn found(program: &Path, environment: &Variables) -> Option<PathBuf> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        return None;
    }
    let folders = environment.get("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let mut candidates = std::env::split_paths(folders).map(|folder| folder.join(program));
    candidates.find(|candidate| access(candidate, Access::EXEC_OK).is_ok() && candidate.is_file())
}

fn text(value: impl Into<OsString>) -> io::Result<CString> {
    Ok(CString::new(value.into().into_vec())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{WaitOptions, waitpid};
    use std::io::{PipeReader, Read};

    fn launch(program: &str, arguments: &[&str], environment: Variables) -> (Launch, PipeReader) {
        let (output, writing) = io::pipe().unwrap();
        let (_, errors) = io::pipe().unwrap();
        let input = std::fs::File::open("/dev/null").unwrap();
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        let streams = [input.into(), writing.into(), errors.into()];
        let launch = Launch::new(
            program.as_ref(),
            &arguments,
            "/".as_ref(),
            environment,
            streams,
            Confinement::default(),
        )
        .unwrap();
        (launch, output)
    }

    fn printed(program: &str, arguments: &[&str], environment: Variables) -> String {
        let (launch, mut output) = launch(program, arguments, environment);
        let pid = launch.start(7, None).unwrap().pid;
        drop(launch);
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        waitpid(Some(pid), WaitOptions::empty()).unwrap();
        text
    }

    #[test]
    fn a_process_gets_only_what_it_is_given() {
        let mut environment = Variables::default();
        environment.set("A", "1");
        assert_eq!(printed("/usr/bin/env", &[], environment.clone()), "A=1\n");
        assert_eq!(
            printed("/bin/sh", &["-c", "pwd; echo \"$@\"", "name", "a b", ""], environment),
            "/\na b \n"
        );
    }

    #[test]
    fn a_program_without_a_path_is_found_in_the_search_path_of_the_process() {
        let mut environment = Variables::default();
        environment.set("PATH", "/nowhere:/usr/bin:/bin");
        assert_eq!(printed("sh", &["-c", "echo $0"], environment.clone()), "sh\n");
        environment.set("PATH", "/nowhere");
        let (launch, _output) = launch("sh", &[], environment);
        assert_eq!(launch.start(7, None).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_process_finds_a_further_stream_as_descriptor_3_and_no_other() {
        let (mut further, writing) = io::pipe().unwrap();
        let (launch, mut output) =
            launch("/bin/sh", &["-c", "echo further >&3; ls /dev/fd/4"], Variables::default());
        let launch = launch.with_further(writing.into());
        let pid = launch.start(7, None).unwrap().pid;
        drop(launch);
        let mut text = String::new();
        further.read_to_string(&mut text).unwrap();
        assert_eq!(text, "further\n");
        text.clear();
        output.read_to_string(&mut text).unwrap();
        assert_eq!(text, "");
        waitpid(Some(pid), WaitOptions::empty()).unwrap();
    }

    /// A parent may leave descriptors open in us, as `make -j` does, and none of them is for our children.
    #[test]
    fn no_descriptor_that_we_inherited_reaches_a_process() {
        let inherited = std::fs::File::open("/dev/null").unwrap();
        rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&inherited);
        // As at the first start of a process.
        system_calls::close_all_on_exec();
        let script = format!("ls /dev/fd/{number} 2>/dev/null");
        assert_eq!(printed("/bin/sh", &["-c", &script], Variables::default()), "");
    }

    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    #[test]
    fn signals_are_as_a_program_expects_them() {
        let status = printed("/bin/cat", &["/proc/self/status"], Variables::default());
        let line = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap();
        assert_eq!(line("SigBlk").split_whitespace().last(), Some("0000000000000000"));
        // SIGPIPE, which this program itself ignores.
        let ignored = u64::from_str_radix(line("SigIgn").split_whitespace().last().unwrap(), 16).unwrap();
        assert_eq!(ignored & (1 << 12), 0, "{status}");
    }

    #[test]
    fn a_failed_start_names_the_reason() {
        for (program, kind) in [
            ("/nowhere/at-all", io::ErrorKind::NotFound),
            ("/etc/passwd", io::ErrorKind::PermissionDenied),
            ("/", io::ErrorKind::PermissionDenied),
        ] {
            let (launch, _output) = launch(program, &[], Variables::default());
            assert_eq!(launch.start(7, None).unwrap_err().kind(), kind, "{program}");
        }
        let mut environment = Variables::default();
        environment.set("A", "x\0");
        let (launch, _output) = launch("/bin/sh", &[], environment);
        assert!(launch.start(7, None).unwrap_err().to_string().contains("variable 'A'"));
    }
}
