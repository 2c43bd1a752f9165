//! Leaks: one server repeats the same operations, cheap ones a million times, while its memory is measured.
//! Memory that grows with the number of repetitions is a leak; so is memory that an idle server has not
//! released at the end.

mod traffic;

use crate::arguments::Arguments;
use crate::http::Server;
use crate::proc;
use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};
use traffic::{ACTS, Act, FUNCTIONS, Worker};

/// The number of concurrent clients.
const CLIENTS: u64 = 4;

/// Each act runs in so many parts of the same size. The memory is measured after each part.
const PARTS: u64 = 4;

/// Growth per repetition in the second half of an act that counts as a leak, if the total also exceeds the
/// slack: the allocator takes and releases memory in pages.
const BYTES_EACH: f64 = 4.0;
const SLACK: u64 = 2 * 1024 * 1024;

/// The memory that an idle server may have gained after all the traffic: memory of the allocator, and
/// resources kept for reuse.
const KEPT: u64 = 8 * 1024 * 1024;

/// How long a server is idle before its memory is measured: it releases free memory a second after a burst.
const QUIET: Duration = Duration::from_secs(3);

/// True if nothing leaks.
pub(crate) fn leaks(arguments: &Arguments) -> io::Result<bool> {
    let folder = tempfile::Builder::new().prefix("mcp-bash-leaks.").tempdir()?;
    let project = folder.path().join("project");
    fs::create_dir_all(project.join("tools"))?;
    fs::write(project.join("tools/functions.py"), FUNCTIONS)?;
    let environment = [
        ("MCPBASH_HTTP_MAX_SESSIONS_PER_MIN", "0"),
        ("MCPBASH_LOG_LEVEL", "error"),
        ("MCPBASH_DEFAULT_TOOL_TIMEOUT", "600"),
        ("MCPBASH_MAX_PROGRESS_PER_MIN", "0"),
        // Large results are not cut.
        ("MCPBASH_MAX_RESULT_TEXT_BYTES", "0"),
    ];
    let server = Server::start(&arguments.binary, &project, &folder.path().join("tmp"), &[], &environment)?;
    crate::say(&format!("anonymous memory of {}, in KiB\n", arguments.binary.display()));
    let mut is_clean = true;
    let fresh = quiet_memory(&server).map_err(io::Error::other)?;
    for (act, name, count) in ACTS {
        let count = (count * arguments.percent / 100).max(PARTS * CLIENTS);
        let began = Instant::now();
        let memory = measure(&server, act, count).map_err(io::Error::other)?;
        let each = growth(&memory, count);
        let leaks = is_leak(&memory, count);
        is_clean &= !leaks;
        let shown: Vec<String> = memory.iter().map(|bytes| (bytes / 1024).to_string()).collect();
        crate::say(&format!(
            "{count:>8} {name}: {} ({each:+.1} bytes each in the second half, {} s){}\n",
            shown.join(" "),
            began.elapsed().as_secs(),
            if leaks { " LEAKS" } else { "" },
        ));
    }
    let last = quiet_memory(&server).map_err(io::Error::other)?;
    let is_given_back = last <= fresh + KEPT;
    let mark = if is_given_back { "" } else { " NOT GIVEN BACK" };
    crate::say(&format!("{} before, {} after all of it{mark}\n", fresh / 1024, last / 1024));
    Ok(is_clean && is_given_back)
}

/// The memory before, and after each part.
fn measure(server: &Server, act: Act, count: u64) -> Result<Vec<u64>, String> {
    // After these the server holds everything that it keeps for reuse.
    repeat(server, act, (count / 20).max(CLIENTS))?;
    let mut memory = vec![quiet_memory(server)?];
    for _ in 0..PARTS {
        repeat(server, act, count / PARTS)?;
        memory.push(quiet_memory(server)?);
    }
    Ok(memory)
}

fn repeat(server: &Server, act: Act, count: u64) -> Result<(), String> {
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(move || {
                    let mut worker = Worker::new(server)?;
                    (0..count / CLIENTS).try_for_each(|_| worker.act(act))?;
                    worker.leave()
                })
            })
            .collect();
        clients
            .into_iter()
            .try_for_each(|client| client.join().map_err(|_| "a client panicked".to_owned())?)
    })
}

fn quiet_memory(server: &Server) -> Result<u64, String> {
    thread::sleep(QUIET);
    proc::anonymous_memory(server.pid()).ok_or_else(|| format!("the server is gone: {}", server.log()))
}

/// The growth per repetition in the second half, in bytes.
#[expect(clippy::cast_precision_loss, reason = "no memory and no count is so large")]
fn growth(memory: &[u64], count: u64) -> f64 {
    let half = memory.len() / 2;
    let bytes = |at: usize| memory.get(at).copied().unwrap_or_default() as f64;
    (bytes(memory.len() - 1) - bytes(half)) / (count as f64 / 2.0)
}

/// Whether memory still grows in the last part: a single step is the allocator's.
fn is_leak(memory: &[u64], count: u64) -> bool {
    let [first, .., before, last] = memory else { return false };
    last > before && *last > first + SLACK && growth(memory, count) > BYTES_EACH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_growth_up_to_the_end_is_a_leak() {
        let mebibytes = |memory: [u64; 5]| memory.map(|mebibytes| mebibytes << 20);
        assert!(is_leak(&mebibytes([10, 12, 14, 16, 18]), 100_000));
        assert!(!is_leak(&mebibytes([10, 16, 18, 18, 18]), 100_000), "it has stopped");
        assert!(!is_leak(&mebibytes([10, 10, 10, 19, 16]), 400), "the allocator took more once");
        assert!(!is_leak(&mebibytes([10, 10, 10, 10, 11]), 100_000), "a page here and there");
    }
}
