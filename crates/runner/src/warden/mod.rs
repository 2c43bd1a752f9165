//! The warden: a small process that outlives the server, to kill what the server could not when it was killed itself.
//!
//! It is this same program, started with a hidden first argument when there is a call or a private folder. It sleeps until
//! a pipe ends whose other end only the server has, which the kernel sees to however the server comes to its end. Then it
//! kills the control group of the server's calls, the process groups that the ledger says were alive, and on Linux every
//! process that carries the server's mark, and removes the server's private folder.
//!
//! Neither the server nor the warden lets other processes of its user look into it (they are not *dumpable*): a script
//! could open their descriptors through `/proc` otherwise, and write to the client or to the ledger.

#[cfg(target_os = "linux")]
mod hunt;
mod ledger;
mod watch;

use crate::mark::{self, OURS};
pub(crate) use ledger::Watched;
use ledger::{Good, Ledger};
use rustix::process::Pid;
use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The first argument of a program that is to be the warden.
const WORD: &str = "__warden";

/// How long a warden that was found alive is taken to be so.
const INTERVAL: Duration = Duration::from_millis(500);

static INSTALLED: AtomicBool = AtomicBool::new(false);
static LEDGER: OnceLock<Option<Ledger>> = OnceLock::new();
static POST: Mutex<Post> = Mutex::new(Post { warden: None, seen: None, goods: Vec::new() });
/// The process number of the warden, or 0.
static PID: AtomicI32 = AtomicI32::new(0);

struct Post {
    warden: Option<Warden>,
    /// When it was last found alive, or could not be started.
    seen: Option<Instant>,
    goods: Vec<Good>,
}

struct Warden {
    process: Child,
    /// It ends with us, and the warden's watch with it.
    _life: PipeWriter,
}

/// Lets calls of this process be watched by a warden. To be called first of all by programs whose `main` it is: when
/// the program was started as a warden, this never returns.
pub fn install() {
    keep_to_ourselves();
    if std::env::args_os().nth(1).is_some_and(|word| word == WORD) {
        watch::run();
    }
    crate::leftovers::prepare();
    INSTALLED.store(true, Ordering::Relaxed);
}

/// Keeps other processes of our user out of our memory and descriptors. Root may look all the same.
fn keep_to_ourselves() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
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
    post.warden = start(&post.goods).ok();
    let pid = post.warden.as_ref().map_or(0, |warden| warden.process.id().cast_signed());
    PID.store(pid, Ordering::Release);
}

/// Lets a folder be removed when this process is gone and has not done so itself. From now on there is a warden.
pub(crate) fn remove_with_us(folder: &Path) {
    goes_with_us(Good::Folder(folder.to_owned()));
    keep_watch();
}

/// Lets the processes of a control group be killed when this process is gone, and the group be removed.
#[cfg(target_os = "linux")]
pub(crate) fn end_group_with_us(group: &Path) {
    goes_with_us(Good::Group(group.to_owned()));
}

fn goes_with_us(good: Good) {
    let mut post = post();
    post.goods.push(good);
    if let Some(Some(ledger)) = LEDGER.get() {
        // Without it a folder is the system's to clean up, and processes are found by their mark.
        let _ = ledger.set_goods(&post.goods);
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

fn start(goods: &[Good]) -> io::Result<Warden> {
    let ledger = LEDGER.get_or_init(|| Ledger::create(&OURS).ok());
    let ledger = ledger.as_ref().ok_or(io::ErrorKind::Unsupported)?;
    ledger.set_goods(goods)?;
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
