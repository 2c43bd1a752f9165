//! Makes system calls of a running process fail, with `strace`.

use crate::harness::{wait_at_most, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The hint for systems that do not let one process trace another.
const NEEDS: &str = "the tests of injected faults need `strace` (a Debian package) and a system that lets a process trace \
                     another (in a container: `--cap-add SYS_PTRACE`)";

/// The time that a tracer may take to detach.
const DETACHED: Duration = Duration::from_secs(2);

/// The threads whose calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The existing threads of the server.
    Threads,
    /// The thread that reads the project.
    Reader,
    /// Also new threads, and every process that the server starts.
    Everything,
}

/// A tracer attached to a server. Dropping it detaches.
pub(super) struct Strace {
    tracer: Child,
    folder: TempDir,
}

impl Strace {
    /// Attaches to a process. Returns when all selected threads are traced.
    pub(super) fn attach(pid: u32, whose: Whose, options: &[String]) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let said = File::create(folder.path().join("said")).expect("a file");
        let mut command = Command::new("strace");
        command.args(["--decode-fds=path", "--output"]).arg(folder.path().join("trace")).args(options);
        let threads = match whose {
            Whose::Everything => {
                command.arg("--follow-forks");
                vec![pid]
            }
            Whose::Threads => threads_of(pid),
            Whose::Reader => wait_until("the thread that reads the project", || {
                let reader = threads_of(pid).into_iter().find(|thread| is_reader(pid, *thread))?;
                Some(vec![reader])
            }),
        };
        command.args(threads.iter().map(|thread| format!("--attach={thread}")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let tracer = command.spawn().unwrap_or_else(|error| panic!("strace: {error}; {NEEDS}"));
        let mut strace = Self { tracer, folder };
        wait_until("strace to attach", || {
            let is_over = strace.tracer.try_wait().expect("a status").is_some();
            assert!(!is_over, "{}\n{NEEDS}", strace.read("said"));
            let meant = if whose == Whose::Everything { threads_of(pid) } else { threads.clone() };
            meant.iter().all(|thread| is_traced(pid, *thread)).then_some(())
        });
        strace
    }

    /// Whether an injected failure has occurred.
    pub(super) fn has_struck(&self) -> bool {
        self.read("trace").contains("(INJECTED)")
    }

    /// Detaches. Returns the trace.
    pub(super) fn detach(mut self) -> String {
        self.end();
        self.read("trace")
    }

    fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.folder.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn end(&mut self) {
        if let Ok(None) = self.tracer.try_wait() {
            // It detaches before it exits, unless a process is just being started: then it waits for ever,
            // and the kernel detaches for it.
            let _ = kill_process(Pid::from_child(&self.tracer), Signal::TERM);
            let ended = wait_at_most(DETACHED, || self.tracer.try_wait().transpose());
            if ended.is_none() {
                let _ = self.tracer.kill();
            }
            let _ = self.tracer.wait();
        }
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        self.end();
    }
}

/// A command that starts a program whose calls fail from the first one on, in its first thread only. The
/// started process is the program; the tracer is not an ancestor.
pub(super) fn command_under_strace(
    options: &[String],
    trace: &std::path::Path,
    program: &str,
) -> Vec<String> {
    let mut words: Vec<String> =
        ["--daemonize=grandchild", "--decode-fds=path", "--output"].map(Into::into).into();
    words.push(trace.display().to_string());
    words.extend_from_slice(options);
    words.push(program.to_owned());
    words
}

fn threads_of(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("a process").flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
}

fn is_reader(pid: u32, thread: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).is_ok_and(|name| name == "project\n")
}

/// Whether a thread is traced. A thread that has exited needs no tracer.
fn is_traced(pid: u32, thread: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")) else { return true };
    status.lines().any(|line| line.strip_prefix("TracerPid:").is_some_and(|tracer| tracer.trim() != "0"))
}
