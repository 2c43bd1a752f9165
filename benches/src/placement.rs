//! Processor placement: the cores on which a driver and a server run while they exchange messages.
//!
//! Waking a process on the same core takes a third of the time of waking it on another one, and the kernel
//! chooses between the two unpredictably. Left alone, a round trip mostly measures that choice; so the driver
//! chooses itself, and measures both.

pub(crate) use held::Held;

/// How the calling thread and a server share the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Both on one core: they take turns, so a round trip shows the work done on both sides.
    OneCore,
    /// Each on its own core: a round trip also contains two wake-ups from one core to the other.
    TwoCores,
}

impl Placement {
    /// Whether the machine, or this process's share of it, has enough cores.
    pub fn is_possible(self) -> bool {
        held::is_possible(self)
    }
}

#[cfg(target_os = "linux")]
mod held {
    use std::fs;
    use std::io;

    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::Placement;

    /// Holds the calling thread and a server on their cores until this is dropped.
    #[derive(Debug)]
    pub(crate) struct Held {
        server: u32,
        allowed: CpuSet,
    }

    impl Held {
        pub(crate) fn new(server: u32, placement: Placement) -> io::Result<Self> {
            let allowed = sched_getaffinity(None)?;
            let cores = choose_cores(placement, &allowed);
            let (own, servers) = cores.ok_or_else(|| io::Error::other("there are not enough cores"))?;
            let held = Self { server, allowed };
            sched_setaffinity(None, &only(own))?;
            place_process(server, &only(servers))?;
            Ok(held)
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            // The server may have died meanwhile, which its next measure will report.
            let _ = place_process(self.server, &self.allowed);
            let _ = sched_setaffinity(None, &self.allowed);
        }
    }

    pub(super) fn is_possible(placement: Placement) -> bool {
        sched_getaffinity(None).is_ok_and(|allowed| choose_cores(placement, &allowed).is_some())
    }

    /// The core for the driver and the core for the server.
    fn choose_cores(placement: Placement, allowed: &CpuSet) -> Option<(usize, usize)> {
        let mut usable = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
        let first = usable.next()?;
        match placement {
            Placement::OneCore => Some((first, first)),
            Placement::TwoCores => Some((first, usable.next()?)),
        }
    }

    fn only(core: usize) -> CpuSet {
        let mut set = CpuSet::new();
        set.set(core);
        set
    }

    /// Places every thread of a process. Threads it starts later inherit their cores.
    fn place_process(pid: u32, cores: &CpuSet) -> io::Result<()> {
        for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
            let name = entry?.file_name();
            let thread = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            if thread.is_some() {
                // A thread that exits while the list is read needs no core.
                let _ = sched_setaffinity(thread, cores);
            }
        }
        Ok(())
    }
}

/// On other systems the benchmarks compile, so that the workspace does, but they cannot run.
#[cfg(not(target_os = "linux"))]
mod held {
    use std::io;

    use super::Placement;

    #[derive(Debug)]
    pub(crate) struct Held;

    impl Held {
        pub(crate) fn new(_server: u32, _placement: Placement) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    pub(super) fn is_possible(_placement: Placement) -> bool {
        false
    }
}
