//! The warden: a small process that outlives the server, to kill what the server could not when it was killed itself.
//!
//! It is this same program, started with a hidden first argument when the first call starts. It sleeps until a pipe
//! ends whose other end only the server has, which the kernel sees to however the server comes to its end. Then it
//! kills the groups that the ledger says were alive, and on Linux every process that carries the server's mark, and
//! removes the server's private folder.

mod ledger;
mod watch;

use crate::mark::{self, OURS};
use ledger::Ledger;
pub(crate) use ledger::Watched;
use rustix::process::Pid;
use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The first argument of a program that is to be the warden.
const WORD: &str = "__warden";

/// How long a warden that was found alive is taken to be so.
const INTERVAL: Duration = Duration::from_millis(500);

/// How often a warden that ended or does not start is replaced.
const ATTEMPTS: u32 = 5;

static INSTALLED: AtomicBool = AtomicBool::new(false);
static LEDGER: OnceLock<Option<Ledger>> = OnceLock::new();
static POST: Mutex<Post> = Mutex::new(Post { warden: None, attempts: 0, seen: None, folder: None });
/// The process number of the warden, or 0.
static PID: AtomicI32 = AtomicI32::new(0);

struct Post {
    warden: Option<Warden>,
    attempts: u32,
    /// When it was last found alive.
    seen: Option<Instant>,
    /// What goes with the server.
    folder: Option<PathBuf>,
}

struct Warden {
    process: Child,
    /// It ends with us, and the warden's watch with it.
    _life: PipeWriter,
}

/// Lets calls of this process be watched by a warden. To be called first of all by programs whose `main` it is: when
/// the program was started as a warden, this never returns.
pub fn install() {
    if std::env::args_os().nth(1).is_some_and(|word| word == WORD) {
        watch::run();
    }
    INSTALLED.store(true, Ordering::Relaxed);
}

/// Makes sure that there is a warden, if there is to be one.
pub(crate) fn keep_watch() {
    if !INSTALLED.load(Ordering::Relaxed) {
        return;
    }
    let mut post = post();
    let now = Instant::now();
    if post.seen.is_some_and(|seen| now < seen + INTERVAL) {
        return;
    }
    post.seen = Some(now);
    if let Some(warden) = &mut post.warden
        && matches!(warden.process.try_wait(), Ok(None))
    {
        return;
    }
    if post.attempts < ATTEMPTS {
        post.attempts += 1;
        post.warden = start(post.folder.as_deref()).ok();
        let pid = post.warden.as_ref().map_or(0, |warden| warden.process.id().cast_signed());
        PID.store(pid, Ordering::Release);
    }
}

/// Lets a folder be removed when this process is gone and has not done so itself. There can be one.
pub(crate) fn remove_with_us(folder: &Path) {
    let mut post = post();
    if post.folder.is_none() {
        post.folder = Some(folder.to_owned());
        if let Some(Some(ledger)) = LEDGER.get() {
            // It is in the temporary directory, and then the system's to clean up.
            let _ = ledger.set_folder(folder);
        }
    }
}

/// Tells the warden of a group, as long as the returned value lives. Needless where it finds all by their mark.
pub(crate) fn watch(leader: Pid) -> Option<Watched> {
    #[cfg(target_os = "linux")]
    if crate::leftovers::proc::is_there() {
        return None;
    }
    LEDGER.get()?.as_ref()?.enter(leader)
}

/// The warden, which is nobody's leftover.
#[cfg(target_os = "linux")]
pub(crate) fn pid() -> Option<Pid> {
    Pid::from_raw(PID.load(Ordering::Acquire))
}

/// Ends the warden, when there is nothing left to watch.
pub(crate) fn dismiss() {
    let mut post = post();
    if let Some(mut warden) = post.warden.take() {
        let _ = warden.process.kill();
        let _ = warden.process.wait();
        PID.store(0, Ordering::Release);
        post.seen = None;
    }
}

fn start(folder: Option<&Path>) -> io::Result<Warden> {
    let ledger = LEDGER.get_or_init(|| Ledger::create(&OURS).ok());
    let ledger = ledger.as_ref().ok_or(io::ErrorKind::Unsupported)?;
    if let Some(folder) = folder {
        ledger.set_folder(folder)?;
    }
    let (end, life) = io::pipe()?;
    let name = std::env::current_exe()?;
    // The file may have been replaced since we were started; what we are running cannot.
    let itself = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { name.clone() };
    let mut command = Command::new(itself);
    command
        .arg0(name)
        .arg(WORD)
        .env_clear()
        .envs(mark::inherited().map(|value| (mark::VARIABLE, value)))
        .current_dir("/")
        .stdin(end)
        .stdout(ledger.file().try_clone()?)
        .stderr(Stdio::null())
        // Signals of a terminal, and those for our group, are not for the warden.
        .process_group(0);
    Ok(Warden { process: command.spawn()?, _life: life })
}

fn post() -> MutexGuard<'static, Post> {
    POST.lock().unwrap_or_else(PoisonError::into_inner)
}
