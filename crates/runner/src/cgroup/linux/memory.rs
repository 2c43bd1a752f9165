//! Out-of-memory kills, as the kernel counts them for the control group of this process. The count is read only when a
//! process was killed, so that an ordinary call costs nothing. The conclusion is a guess, since other processes of the
//! group may have been killed as well.

use parking_lot::Mutex;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Kills within this time are attributed to the same shortage of memory.
const TOGETHER: Duration = Duration::from_secs(1);

static OURS: Mutex<Option<Kills>> = Mutex::new(None);

/// The known kills of one group.
#[derive(Debug)]
struct Kills {
    /// The file with the kernel's count.
    file: PathBuf,
    count: u64,
    /// When the count was last seen to have grown.
    grew: Option<Instant>,
}

/// Records the number of out-of-memory kills in our group so far, to recognise later ones.
pub fn note_memory_kills() {
    let mut ours = OURS.lock();
    if ours.is_none() {
        *ours = own_counters().into_iter().find_map(Kills::of);
    }
}

/// Counts the kills in the parent of the groups of calls instead, if our own group has no count. The root group has
/// none.
pub(super) fn count_kills_in(parent: &Path) {
    let mut ours = OURS.lock();
    if ours.is_none() {
        *ours = Kills::of(parent.join("memory.events"));
    }
}

/// Whether the kernel has probably just killed a process of ours for lack of memory. False if that is unknown.
pub(crate) fn memory_ran_out() -> bool {
    OURS.lock().as_mut().is_some_and(Kills::has_grown)
}

impl Kills {
    fn of(file: PathBuf) -> Option<Self> {
        let count = count_in(&file)?;
        Some(Self { file, count, grew: None })
    }

    fn has_grown(&mut self) -> bool {
        let Some(count) = count_in(&self.file) else { return false };
        if count > self.count {
            self.grew = Some(Instant::now());
        }
        self.count = count;
        self.grew.is_some_and(|when| when.elapsed() < TOGETHER)
    }
}

/// The number of kills in a file of the kernel.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn count_in(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// The files in which the kernel may count the kills of our group: that of cgroup v2, else that of the older memory
/// controller.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn own_counters() -> Vec<PathBuf> {
    let text = |file: &str| fs::read_to_string(file).unwrap_or_default();
    counters(&text("/proc/self/mountinfo"), &text("/proc/self/cgroup"))
}

fn counters(mounts: &str, groups: &str) -> Vec<PathBuf> {
    let group_of = |controller: &str| {
        groups.lines().find_map(|line| {
            let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|name| name == controller).then_some(group)
        })
    };
    let place = |group: Option<&str>, is_tree: fn(&str) -> bool| {
        mounts.lines().find_map(|line| super::place_of(group?, line, is_tree))
    };
    let unified = place(group_of(""), super::is_unified).map(|group| group.join("memory.events"));
    let older = place(group_of("memory"), is_memory).map(|group| group.join("memory.oom_control"));
    unified.into_iter().chain(older).collect()
}

/// Whether a mount is the tree of the older memory controller.
fn is_memory(kind: &str) -> bool {
    let options = kind.rsplit(' ').next().unwrap_or_default();
    kind.starts_with("cgroup ") && options.split(',').any(|option| option == "memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_grew_is_a_guess_at_memory_and_no_other_change_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = |kills: u64| {
            let events = format!("low 0\nhigh 3\nmax 9\noom 2\noom_kill {kills}\noom_group_kill 0\n");
            fs::write(file.path(), events).unwrap();
        };
        write(4);
        let mut kills = Kills::of(file.path().to_owned()).unwrap();
        assert!(!kills.has_grown(), "what was before the server is nothing to it");
        write(5);
        assert!(kills.has_grown());
        kills.grew = kills.grew.map(|when| when.checked_sub(TOGETHER).unwrap());
        assert!(!kills.has_grown(), "a later kill is another one");
        for broken in ["", "oom_kill", "oom_kill many\n", "oom_killer 7\n"] {
            fs::write(file.path(), broken).unwrap();
            assert!(!kills.has_grown(), "{broken:?}");
        }
        assert!(Kills::of("/no/such/file".into()).is_none());
    }

    #[test]
    fn the_counters_are_those_of_our_own_group() {
        let unified = "31 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";
        assert_eq!(
            counters(unified, "0::/app.scope\n"),
            [Path::new("/sys/fs/cgroup/app.scope/memory.events")]
        );
        let older = "36 32 0:33 / /cg/memory rw - cgroup cgroup rw,memory\n\
                     37 32 0:34 / /cg/unified rw - cgroup2 cgroup2 rw";
        assert_eq!(
            counters(older, "4:memory:/box\n1:cpu:/\n0::/\n"),
            [Path::new("/cg/unified/memory.events"), Path::new("/cg/memory/box/memory.oom_control")]
        );
        assert!(counters("", "").is_empty() && counters(older, "1:cpu:/\n").is_empty());
    }
}
