//! Process usage: memory, processor time and bytes of a process, read from `/proc`.

use std::fs;
use std::io;
use std::time::Duration;

/// The resident memory of a process, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Every page in memory, shared libraries counted in full.
    pub resident: u64,
    /// The same with each shared page divided by the number of processes that map it.
    pub proportional: u64,
    /// Only the pages no other process maps.
    pub private: u64,
    /// Only those of them that the process has written. The others are pages of its program, of which the
    /// kernel maps an arbitrary number.
    pub written: u64,
}

impl Memory {
    pub fn of(pid: u32) -> io::Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let written = kilobyte_field(&rollup, "Private_Dirty:")?;
        Ok(Self {
            resident: kilobyte_field(&status, "VmRSS:")?,
            proportional: kilobyte_field(&rollup, "Pss:")?,
            private: kilobyte_field(&rollup, "Private_Clean:")? + written,
            written,
        })
    }
}

/// The bytes of a field such as `VmRSS:   2048 kB`.
fn kilobyte_field(text: &str, name: &str) -> io::Result<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = value.and_then(|value| value.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes * 1024).ok_or_else(|| unreadable(name))
}

/// The processor time a process has used so far, in user and kernel mode together.
#[derive(Debug, Clone, Copy)]
pub struct CpuTime {
    /// Exact to the nanosecond, but only over the threads that still run.
    threads: Duration,
    /// Over all threads that ever ran, but in clock ticks of ten milliseconds.
    process: Duration,
}

impl CpuTime {
    pub fn of(pid: u32) -> io::Result<Self> {
        Ok(Self { threads: thread_time(pid)?, process: process_time(pid)? })
    }

    /// The time used since `earlier`.
    ///
    /// The exact sum is right unless a thread exited in between, which removes its share. Then time is
    /// missing in comparison with the coarse counter, and the coarse counter is the better value.
    pub fn since(self, earlier: Self) -> Duration {
        const ROUNDING: Duration = Duration::from_millis(20);
        let exact = self.threads.saturating_sub(earlier.threads);
        let coarse = self.process.saturating_sub(earlier.process);
        if exact + ROUNDING < coarse { coarse } else { exact }
    }
}

/// The bytes a process has read and written so far, in any way.
#[derive(Debug, Clone, Copy)]
pub struct Traffic {
    pub read: u64,
    pub written: u64,
}

impl Traffic {
    pub fn of(pid: u32) -> io::Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/io"))?;
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name));
            value.and_then(|value| value.trim().parse().ok()).ok_or_else(|| unreadable(name))
        };
        Ok(Self { read: field("rchar:")?, written: field("wchar:")? })
    }
}

/// How many threads a process has.
pub fn thread_count(pid: u32) -> io::Result<u32> {
    let count = fs::read_dir(format!("/proc/{pid}/task"))?.count();
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

fn thread_time(pid: u32) -> io::Result<Duration> {
    let mut total = 0;
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may exit between the listing and the reading; then it no longer counts.
        let Ok(text) = fs::read_to_string(entry?.path().join("schedstat")) else { continue };
        let first = text.split_whitespace().next().and_then(|field| field.parse::<u64>().ok());
        total += first.ok_or_else(|| unreadable("schedstat"))?;
    }
    Ok(Duration::from_nanos(total))
}

fn process_time(pid: u32) -> io::Result<Duration> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may itself contain spaces and parentheses, so fields are counted after it.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let tick = |index| fields.split_whitespace().nth(index).and_then(|field| field.parse::<u64>().ok());
    let (Some(user), Some(system)) = (tick(11), tick(12)) else { return Err(unreadable("stat")) };
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_nanos((user + system) * 1_000_000_000 / per_second))
}

fn unreadable(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} is missing or unreadable in /proc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_and_scaled() {
        assert_eq!(kilobyte_field("VmHWM:\t 9 kB\nVmRSS:\t    2048 kB\n", "VmRSS:").unwrap(), 2048 * 1024);
        assert!(kilobyte_field("VmHWM:\t 9 kB\n", "VmRSS:").is_err());
    }

    #[test]
    fn the_coarse_counter_replaces_the_exact_one_after_a_thread_exits() {
        let at = |exact, coarse| CpuTime {
            threads: Duration::from_millis(exact),
            process: Duration::from_millis(coarse),
        };
        assert_eq!(at(105, 110).since(at(1, 0)), Duration::from_millis(104));
        assert_eq!(at(10, 110).since(at(1, 0)), Duration::from_millis(110));
    }
}
