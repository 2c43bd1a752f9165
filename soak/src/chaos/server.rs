//! The server that the chaos is for.

use crate::proc;
use crate::process::signal_process;
use crate::run::{PATIENCE, wait_until};
use rustix::process::Signal;
use std::fmt;
use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the scripts begin with: the word of their call, and a way to tell of progress.
const PRELUDE: &str = r#"#!/bin/sh
args=$MCP_TOOL_ARGS_JSON
word=${args#*\"word\":\"}
word=${word%%\"*}
progress() {
    [ -z "${MCP_PROGRESS_STREAM-}" ] ||
        printf '{"method":"notifications/progress","params":{"progress":%s}}\n' "$1" >>"$MCP_PROGRESS_STREAM"
}
"#;

/// How many steps `steps` tells of.
pub(super) const STEPS: u64 = 5;

const TOOLS: [(&str, &str); 4] = [
    ("quick", "echo \"$word\"\n"),
    ("steps", "for n in 1 2 3 4 5; do progress $n; sleep 0.02; done\necho \"$word\"\n"),
    ("slow", "sleep 0.4\necho \"$word\"\n"),
    ("large", "progress 1\nyes \"$word\" | head -c 300000\necho \"$word\"\n"),
];

#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(binary: &Path, folder: &Path) -> io::Result<Self> {
        let project = folder.join("project");
        for (name, body) in TOOLS {
            let tool = project.join("tools").join(name);
            fs::create_dir_all(&tool)?;
            fs::write(tool.join("tool.sh"), format!("{PRELUDE}{body}"))?;
            fs::set_permissions(tool.join("tool.sh"), Permissions::from_mode(0o755))?;
            let metadata =
                serde_json::json!({ "name": name, "description": "A tool of the chaos", "timeoutSecs": 60 });
            fs::write(tool.join("tool.meta.json"), metadata.to_string())?;
        }
        let temporary = folder.join("tmp");
        fs::create_dir(&temporary)?;
        let mut command = Command::new(binary);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MCP") {
                command.env_remove(name);
            }
        }
        command.arg("serve").arg(&project).args(["--http", "127.0.0.1:0"]).env("TMPDIR", &temporary);
        command.env("MCPBASH_MAX_PROGRESS_PER_MIN", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
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
        wait_until(PATIENCE, || {
            address = announced(&server.log());
            address.is_some()
        });
        server.address = address.ok_or_else(|| io::Error::other(format!("no server: {}", server.log())))?;
        Ok(server)
    }

    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What runs for calls.
    pub(super) fn scripts(&self) -> Vec<proc::Process> {
        let all = proc::descendants(self.child.id());
        all.into_iter().filter(|process| !process.is_dead && !process.is_warden()).collect()
    }

    pub(super) fn signal(&self, signal: Signal) {
        signal_process(self.child.id(), signal);
    }

    /// Waits for the server to end by itself.
    pub(super) fn wait(&mut self) -> Option<ExitStatus> {
        let mut status = None;
        wait_until(PATIENCE, || {
            status = self.child.try_wait().ok().flatten();
            status.is_some()
        });
        if let Some(reader) = self.reader.take().filter(|_| status.is_some()) {
            let _ = reader.join();
        }
        status
    }

    /// What it uses when nobody wants anything, looked at until `is_enough`, or patience is at its end.
    pub(super) fn quiet_usage(&self, is_enough: impl Fn(&Usage) -> bool) -> Usage {
        thread::sleep(Duration::from_millis(500));
        let mut usage = Usage::of(self.child.id());
        wait_until(PATIENCE / 2, || {
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

/// What a server uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    memory: u64,
    descriptors: u64,
    threads: u64,
}

/// How much more is no leak: what the allocator keeps, and what is kept to be used again.
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

    /// What has grown since then, if anything has.
    pub(super) fn growth(&self, before: &Self) -> Option<String> {
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
