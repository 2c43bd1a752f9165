//! Takes as much as it gets of something, up to a limit, and says how much that was. An attack is done if
//! nothing stopped it before.

use super::attack::{Attack, Attempt, Failure};
use super::system_call::{call, descriptor, ignore, in_child, map, start_child, wait_for};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "processes", usage: "COUNT", run: processes },
    Attack { name: "threads", usage: "COUNT", run: threads },
    Attack { name: "memory", usage: "MIB", run: |parameters| memory(parameters, libc::MAP_PRIVATE) },
    Attack { name: "shared-memory", usage: "MIB", run: |parameters| memory(parameters, libc::MAP_SHARED) },
    Attack { name: "disk", usage: "FILE MIB", run: disk },
    Attack { name: "open-files", usage: "COUNT", run: open_files },
    Attack { name: "cpu", usage: "SECONDS", run: |parameters| cpu(parameters, false) },
    Attack { name: "stubborn-cpu", usage: "SECONDS", run: |parameters| cpu(parameters, true) },
];

/// A parameter, which may not be so large that the machine suffers.
fn at_most(limit: usize, parameter: &str) -> Result<usize, Failure> {
    let number = parameter.parse().ok().filter(|number| *number <= limit);
    number.ok_or_else(|| Failure::without_errno(format!("not a number up to {limit}: {parameter}")))
}

fn judged(got: usize, wanted: usize, what: &str, error: Option<&io::Error>) -> Attempt {
    let note = format!("{got} {what}");
    match error {
        _ if got >= wanted => Ok(note),
        Some(error) => Err(Failure::noted(error, note)),
        None => Err(Failure::without_errno(note)),
    }
}

/// Processes that wait until they are killed.
fn processes(parameters: &[&str]) -> Attempt {
    let wanted = at_most(2000, parameters[0])?;
    let (mut children, mut error) = (Vec::new(), None);
    while children.len() < wanted && error.is_none() {
        match start_child(|| {
            std::thread::sleep(Duration::from_secs(60));
            0
        }) {
            Ok(child) => children.push(child),
            Err(refused) => error = Some(refused),
        }
    }
    for child in &children {
        let _ = call(libc::SYS_kill, &[*child as usize, libc::SIGKILL as usize]);
        let _ = wait_for(*child);
    }
    judged(children.len(), wanted, "processes", error.as_ref())
}

fn threads(parameters: &[&str]) -> Attempt {
    let wanted = at_most(2000, parameters[0])?;
    let (mut count, mut error) = (0, None);
    while count < wanted && error.is_none() {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        match thread.spawn(|| std::thread::sleep(Duration::from_secs(60))) {
            Ok(_) => count += 1,
            Err(refused) => error = Some(refused),
        }
    }
    judged(count, wanted, "threads", error.as_ref())
}

/// A child fills memory and says after each MiB that it has it; the kernel may kill it.
fn memory(parameters: &[&str], kind: i32) -> Attempt {
    let wanted = at_most(2048, parameters[0])?;
    let (mut progress, report) = io::pipe()?;
    let child = start_child(|| {
        for _ in 0..wanted {
            let Ok(block) = map(MIB, kind) else { return 1 };
            block.fill(1);
            if (&report).write_all(b".").is_err() {
                return 1;
            }
        }
        0
    })?;
    drop(report);
    let mut got = Vec::new();
    progress.read_to_end(&mut got)?;
    let status = wait_for(child)?;
    judged(got.len(), wanted, &format!("MiB, {status}"), None)
}

/// The file is removed afterwards.
fn disk(parameters: &[&str]) -> Attempt {
    let wanted = at_most(1024, parameters[1])?;
    // So that the limit is an error, and not the end.
    ignore(libc::SIGXFSZ);
    let mut file = OpenOptions::new().write(true).create_new(true).open(parameters[0])?;
    let block = vec![1; MIB];
    let (mut got, mut error) = (0, None);
    while got < wanted && error.is_none() {
        match file.write_all(&block) {
            Ok(()) => got += 1,
            Err(refused) => error = Some(refused),
        }
    }
    let _ = fs::remove_file(parameters[0]);
    judged(got, wanted, "MiB", error.as_ref())
}

fn open_files(parameters: &[&str]) -> Attempt {
    let wanted = at_most(100_000, parameters[0])?;
    // As many as it may, if it may choose.
    let mut limits = [0_u64; 2];
    let resource = libc::RLIMIT_NOFILE as usize;
    call(libc::SYS_prlimit64, &[0, resource, 0, super::system_call::address_mut(&mut limits)])?;
    limits[0] = limits[1];
    call(libc::SYS_prlimit64, &[0, resource, super::system_call::address(&limits), 0])?;
    let (mut open, mut error) = (Vec::new(), None);
    while open.len() < wanted && error.is_none() {
        match descriptor(libc::SYS_dup, &[0]) {
            Ok(another) => open.push(another),
            Err(refused) => error = Some(refused),
        }
    }
    judged(open.len(), wanted, "descriptors", error.as_ref())
}

/// A child computes; the kernel may kill it. A stubborn one ignores the warning before.
fn cpu(parameters: &[&str], is_stubborn: bool) -> Attempt {
    let seconds = at_most(60, parameters[0])?;
    let status = in_child(|| {
        if is_stubborn {
            ignore(libc::SIGXCPU);
        }
        let deadline = Instant::now() + Duration::from_secs(seconds as u64);
        while Instant::now() < deadline {
            std::hint::spin_loop();
        }
        0
    })?;
    match status.signal() {
        None => Ok(format!("computed for {seconds} s")),
        Some(signal) => Err(Failure::without_errno(format!("killed by signal {signal}"))),
    }
}
