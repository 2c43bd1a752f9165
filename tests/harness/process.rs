//! Waits for processes to end, and to have nothing to do.

use super::process_table::{Process, all, of};
use super::wait_until;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Whether a process exists and is not a zombie.
pub(crate) fn exists(pid: u32) -> bool {
    of(pid).is_some_and(|process| !process.is_zombie())
}

pub(crate) fn wait_until_gone(pid: u32) {
    wait_until(&format!("process {pid} to go"), || (!exists(pid)).then_some(()));
}

/// How long nothing may run: longer than any delay of the server.
const ASLEEP: Duration = Duration::from_millis(300);

/// Whether a server that has nothing to do looks for questions and orphans several times in a second. How often it was
/// scheduled says nothing then: it must be asleep whenever the test looks.
#[cfg(target_os = "linux")]
const POLLS: bool = cfg!(mcp_bash_portable);

/// Waits until a process and all its descendants sleep, because they wait for something else. A thread that
/// is ready to run does not sleep, so a busy machine is not mistaken for an idle server.
pub(crate) fn wait_until_asleep(pid: u32) {
    let (mut last, mut since) = (None, Instant::now());
    wait_until(&format!("process {pid} to have nothing to do"), || {
        let now = sleepers(pid);
        if now.is_none() || now != last {
            (last, since) = (now, Instant::now());
        }
        (since.elapsed() >= ASLEEP).then_some(())
    });
}

/// How often each thread of a process and of its descendants was scheduled, if all of them sleep.
#[cfg(target_os = "linux")]
fn sleepers(pid: u32) -> Option<BTreeMap<u32, u64>> {
    let mut turns = BTreeMap::new();
    for process in with_descendants(pid) {
        for thread in threads_of(process.pid) {
            let file = format!("/proc/{}/task/{thread}/status", process.pid);
            let status = std::fs::read_to_string(file).ok()?;
            let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if !matches!(field("State:")?.chars().next()?, 'S' | 'Z') {
                return None;
            }
            let count = |name: &str| field(name)?.parse::<u64>().ok();
            let scheduled = count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?;
            turns.insert(thread, if POLLS { 0 } else { scheduled });
        }
    }
    Some(turns)
}

#[cfg(target_os = "linux")]
fn threads_of(process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The same. `ps` of other systems shows a process as asleep if all its threads are.
#[cfg(not(target_os = "linux"))]
fn sleepers(pid: u32) -> Option<BTreeMap<u32, u64>> {
    let asleep = |process: Process| matches!(process.state, 'S' | 'I' | 'Z').then_some((process.pid, 0));
    with_descendants(pid).into_iter().map(asleep).collect()
}

fn with_descendants(pid: u32) -> Vec<Process> {
    let table = all();
    let mut found: Vec<Process> = table.iter().filter(|process| process.pid == pid).cloned().collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.pid) {
        found.extend(table.iter().filter(|process| process.parent == parent).cloned());
        next += 1;
    }
    found
}
