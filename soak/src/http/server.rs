//! HTTP server: its process, its address, its log, and the resources it uses.

use crate::proc;
use crate::process::signal_process;
use crate::project::STARTING;
use crate::run::{TIMEOUT, wait_until};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The number of log lines shown if it does not exit.
const LAST_LINES: usize = 10;

/// The processes of all servers so far, which are waited for here and nowhere else.
pub(crate) static SERVERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves a project, with its own folder for temporary files.
    pub(crate) fn start(
        binary: &Path,
        project: &Path,
        temporary: &Path,
        arguments: &[&OsStr],
        environment: &[(&str, &str)],
    ) -> io::Result<Self> {
        fs::create_dir(temporary)?;
        let mut command = Command::new(binary);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MCP") {
                command.env_remove(name);
            }
        }
        command.arg("serve").arg(project).args(["--http", "127.0.0.1:0"]).args(arguments);
        command.env("TMPDIR", temporary).envs(environment.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = {
            let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
            let child = command.spawn()?;
            SERVERS.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id());
            child
        };
        let log = Arc::<Mutex<String>>::default();
        let stderr = child.stderr.take().ok_or_else(|| io::Error::other("no pipe"))?;
        let text = Arc::clone(&log);
        let reader = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
                text.push_str(&line);
                text.push('\n');
            }
        });
        let mut server =
            Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)), log, reader: Some(reader) };
        let mut address = None;
        wait_until(TIMEOUT, || {
            address = announced(&server.log());
            address.is_some()
        });
        server.address = address.ok_or_else(|| io::Error::other(format!("no server: {}", server.log())))?;
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The address of its metrics, if it was started with them.
    pub(crate) fn metrics(&self) -> Option<SocketAddr> {
        let log = self.log();
        let address = log.lines().find_map(|line| line.strip_prefix("Metrics at http://"))?;
        address.strip_suffix("/metrics")?.parse().ok()
    }

    /// The processes of calls.
    pub(crate) fn scripts(&self) -> Vec<proc::Process> {
        let all = proc::descendants(self.child.id());
        all.into_iter().filter(|process| !process.is_dead && !process.is_warden()).collect()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        signal_process(self.child.id(), signal);
    }

    /// Waits for the server to exit by itself.
    pub(crate) fn wait(&mut self) -> Option<ExitStatus> {
        let mut status = None;
        wait_until(TIMEOUT, || {
            status = self.child.try_wait().ok().flatten();
            status.is_some()
        });
        if let Some(reader) = self.reader.take().filter(|_| status.is_some()) {
            let _ = reader.join();
        }
        status
    }

    /// Its state, to investigate why it does not exit: its threads, its scripts, and the end of its log.
    pub(crate) fn describe(&self) -> String {
        let scripts: Vec<String> = self.scripts().iter().map(proc::Process::describe).collect();
        let log = self.log();
        let skipped = log.lines().count().saturating_sub(LAST_LINES);
        let last: Vec<&str> = log.lines().skip(skipped).collect();
        [proc::describe_threads(self.child.id()), scripts.join("\n"), last.join("\n")].join("\n")
    }

    /// The usage of an idle server, polled until `is_enough` or a timeout.
    pub(crate) fn quiet_usage(&self, is_enough: impl Fn(&Usage) -> bool) -> Usage {
        thread::sleep(Duration::from_millis(500));
        let mut usage = Usage::of(self.child.id());
        wait_until(TIMEOUT / 2, || {
            usage = usage.least(Usage::of(self.child.id()));
            is_enough(&usage)
        });
        usage
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn announced(log: &str) -> Option<SocketAddr> {
    let address = log.lines().find_map(|line| line.strip_prefix("Serving at http://"))?;
    address.strip_suffix("/mcp")?.parse().ok()
}

/// The resource usage of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    memory: u64,
    descriptors: u64,
    threads: u64,
}

/// The growth that is not a leak: memory of the allocator, and resources kept for reuse.
const MEMORY_SLACK: u64 = 24 * 1024 * 1024;
const DESCRIPTOR_SLACK: u64 = 8;
const THREAD_SLACK: u64 = 8;

impl Usage {
    fn of(pid: u32) -> Self {
        Self {
            memory: proc::memory(pid).unwrap_or_default(),
            descriptors: proc::descriptors(pid).unwrap_or_default(),
            threads: proc::threads(pid).unwrap_or_default(),
        }
    }

    fn least(self, other: Self) -> Self {
        Self {
            memory: self.memory.min(other.memory),
            descriptors: self.descriptors.min(other.descriptors),
            threads: self.threads.min(other.threads),
        }
    }

    /// The growth since then, if any.
    pub(crate) fn growth(&self, before: &Self) -> Option<String> {
        let has_grown = self.memory > before.memory + MEMORY_SLACK
            || self.descriptors > before.descriptors + DESCRIPTOR_SLACK
            || self.threads > before.threads + THREAD_SLACK;
        has_grown.then(|| format!("the server had {before}, and has {self}"))
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, descriptors, threads } = self;
        write!(formatter, "{} KiB, {descriptors} descriptors, {threads} threads", memory / 1024)
    }
}
