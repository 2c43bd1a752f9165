//! `/proc`: information about processes.

use crate::word::Word;
use std::collections::{BTreeSet, HashMap};
use std::fs;

#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) is_dead: bool,
    pub(crate) command: String,
    /// The words in its command line and its environment.
    pub(crate) words: BTreeSet<Word>,
}

impl Process {
    /// Whether it is a server's warden, which outlives it to clean up.
    pub(crate) fn is_warden(&self) -> bool {
        self.command.contains("__warden")
    }

    /// Whether it is a worker that serves a function file, and so stays between calls.
    pub(crate) fn is_worker(&self) -> bool {
        ["worker.py", "worker.mjs"].iter().any(|program| self.command.contains(program))
    }

    pub(crate) fn describe(&self) -> String {
        let words: Vec<String> = self.words.iter().map(Word::to_string).collect();
        let state = if self.is_dead { "dead" } else { "alive" };
        format!("{} (child of {}, {state}): {} {words:?}", self.pid, self.parent, self.command)
    }
}

/// All descendants of `root`, without `root` itself.
pub(crate) fn descendants(root: u32) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<(u32, bool)>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some((parent, is_dead)) = status(pid) {
            children.entry(parent).or_default().push((pid, is_dead));
        }
    }
    let (mut found, mut queue) = (Vec::new(), vec![root]);
    while let Some(parent) = queue.pop() {
        for (pid, is_dead) in children.remove(&parent).unwrap_or_default() {
            queue.push(pid);
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = Word::all_in(&command);
            words.extend(Word::all_in(&fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()));
            let command = String::from_utf8_lossy(&command).replace('\0', " ").chars().take(160).collect();
            found.push(Process { pid, parent, is_dead, command, words });
        }
    }
    found
}

/// The parent of a process, and whether it is a zombie.
fn status(pid: u32) -> Option<(u32, bool)> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything, even parentheses.
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    Some((fields.next()?.parse().ok()?, matches!(state, "Z" | "X")))
}

/// The resident memory of a process, in bytes.
pub(crate) fn memory(pid: u32) -> Option<u64> {
    field(pid, "VmRSS:").map(|kilobytes| kilobytes * 1024)
}

/// The same without files: anonymous memory that it has not released.
pub(crate) fn anonymous_memory(pid: u32) -> Option<u64> {
    field(pid, "RssAnon:").map(|kilobytes| kilobytes * 1024)
}

pub(crate) fn threads(pid: u32) -> Option<u64> {
    field(pid, "Threads:")
}

fn field(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_ascii_whitespace().next()?.parse().ok()
}

/// The number of descriptors of a process.
pub(crate) fn descriptors(pid: u32) -> Option<u64> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64)
}

/// The state of a process's threads, to investigate why it hangs.
pub(crate) fn describe_threads(pid: u32) -> String {
    let mut lines = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let read = |name| fs::read_to_string(entry.path().join(name)).unwrap_or_default().trim().to_owned();
        let (name, waits, call) = (read("comm"), read("wchan"), read("syscall"));
        let call = call.split(' ').next().unwrap_or_default().to_owned();
        lines.push(format!("thread {name}: waits in {waits}, system call {call}"));
    }
    lines.join("\n")
}
