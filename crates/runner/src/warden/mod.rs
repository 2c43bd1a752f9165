//! Warden: a small process that outlives the server, to kill its calls if the server itself is killed.
//!
//! It is this same program, started with a hidden first argument when there is a call or a private folder. It sleeps
//! until it reads the end of a pipe whose other end only the server has: the kernel closes it however the server ends.
//! Then it kills the control group of the server's calls, the process groups that are alive according to the ledger, and
//! every process that carries the mark of the server. Last, it removes the private folder of the server.
//!
//! Neither the server nor the warden is *dumpable*: otherwise a script, which runs as the same user, could open their
//! descriptors through `/proc`, and write to the client or to the ledger.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod kill_marked;
mod ledger;
mod process;
mod start;

use crate::mark::OURS;
pub(crate) use ledger::WatchedGroup;
use ledger::{Cleanup, Ledger};
use parking_lot::Mutex;
use rustix::process::Pid;
use start::Warden;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The first argument that makes this program the warden.
const WARDEN_ARGUMENT: &str = "__warden";

/// How long to wait before checking again whether the warden is alive.
const ALIVE_CHECK_INTERVAL: Duration = Duration::from_millis(500);

static INSTALLED: AtomicBool = AtomicBool::new(false);
static LEDGER: OnceLock<Option<Ledger>> = OnceLock::new();
static STATE: Mutex<WardenState> = Mutex::new(WardenState { warden: None, seen: None });
/// What the warden removes.
static CLEANUPS: Mutex<Vec<Cleanup>> = Mutex::new(Vec::new());
/// The pid of the warden, or 0.
static PID: AtomicI32 = AtomicI32::new(0);

struct WardenState {
    warden: Option<Warden>,
    /// When the warden was last checked or started.
    seen: Option<Instant>,
}

/// Gives this process a warden. Call it at the beginning of `main`: when the program was started as a warden, this
/// never returns.
pub fn install() {
    deny_inspection();
    if std::env::args_os().nth(1).is_some_and(|word| word == WARDEN_ARGUMENT) {
        process::run();
    }
    crate::leftovers::prepare();
    INSTALLED.store(true, Ordering::Relaxed);
}

/// Denies other processes of our user, but not root, access to our memory and descriptors.
fn deny_inspection() {
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Starts the warden if it is not running, in programs that have called [`install`].
pub(crate) fn ensure_running() {
    if !INSTALLED.load(Ordering::Relaxed) {
        return;
    }
    let mut state = STATE.lock();
    let now = Instant::now();
    if state.seen.is_some_and(|seen| now < seen + ALIVE_CHECK_INTERVAL) {
        return;
    }
    state.seen = Some(now);
    if state.warden.as_ref().is_some_and(Warden::is_alive) {
        return;
    }
    PID.store(0, Ordering::Release);
    state.warden = start().ok();
}

/// Makes the warden remove a folder if this process ends without removing it. Starts the warden.
pub(crate) fn remove_with_us(folder: &Path) {
    clean_up_after_us(Cleanup::Folder(folder.to_owned()));
    ensure_running();
}

/// Takes a folder off the list of the warden: it is not ours any more.
pub(crate) fn forget(folder: &Path) {
    let mut cleanups = CLEANUPS.lock();
    cleanups.retain(|cleanup| !matches!(cleanup, Cleanup::Folder(known) if known == folder));
    note(&cleanups);
}

/// Makes the warden kill the processes of a control group and remove the group when this process has ended.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) fn end_group_with_us(group: &Path) {
    clean_up_after_us(Cleanup::Group(group.to_owned()));
}

fn clean_up_after_us(cleanup: Cleanup) {
    let mut cleanups = CLEANUPS.lock();
    if !cleanups.contains(&cleanup) {
        cleanups.push(cleanup);
        note(&cleanups);
    }
}

fn note(cleanups: &[Cleanup]) {
    if let Some(Some(ledger)) = LEDGER.get() {
        // If it fails, the system cleans up the folder, and processes are found by their marks.
        let _ = ledger.set_cleanups(cleanups);
    }
}

/// Reports a process group to the warden, until the returned value is dropped. Not needed if the warden finds processes
/// by their marks.
pub(crate) fn watch(leader: Pid) -> Option<WatchedGroup> {
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    if crate::leftovers::proc::is_readable() {
        return None;
    }
    LEDGER.get()?.as_ref()?.enter(leader)
}

/// The pid of the warden, a child that belongs to no call.
pub(crate) fn pid() -> Option<Pid> {
    Pid::from_raw(PID.load(Ordering::Acquire))
}

/// Terminates the warden, when there are no calls left.
pub(crate) fn dismiss() {
    let mut state = STATE.lock();
    if let Some(warden) = state.warden.take() {
        warden.end();
        PID.store(0, Ordering::Release);
        state.seen = None;
    }
}

fn start() -> io::Result<Warden> {
    let ledger = LEDGER.get_or_init(|| Ledger::create(&OURS).ok());
    let ledger = ledger.as_ref().ok_or(io::ErrorKind::Unsupported)?;
    ledger.set_cleanups(&CLEANUPS.lock())?;
    Warden::start(ledger.file())
}
