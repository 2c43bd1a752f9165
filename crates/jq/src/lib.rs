//! jq for scripts, wherever mcp-bash runs: the language and the command line of jq, in this one binary.
//!
//! # Theory of operation
//!
//! [`run`] reads the command line (`options.rs`) and gives the rest to a thread with a large stack (`session.rs`),
//! because programs and values may be nested deeply; a filter that recurses until little stack is left fails
//! (`engine.rs`). The program is brought into the form in which the interpreter of `jaq-core` does what jq does
//! (`numerals.rs`, `tokens.rs`, `rewrite.rs`) and compiled together with the few definitions it needs (`program.rs`,
//! `definitions.rs`, `natives/`). Input is cut into values as it arrives (`frames.rs`, `inputs.rs`) and parsed
//! (`read.rs`); each result is written at once (`write.rs`).
//!
//! Values (`value.rs`) are ours: numbers keep their original text until a filter calculates with them (`number.rs`),
//! objects keep the order of their keys, and error messages use jq's words.
//!
//! # Decisions
//!
//! - Where versions of jq differ, this one follows 1.8.
//! - Nothing is coloured, and no modules are loaded: what a script does depends on its own text alone.
//! - The remaining differences are listed in `tests/differences`, where a test proves each of them, and documented for
//!   users in `docs/jq.md`.

mod access;
mod arithmetic;
mod calls;
mod definitions;
mod delete;
mod describe;
mod engine;
mod exit;
mod frames;
mod inputs;
mod natives;
mod number;
mod numerals;
mod offset;
mod options;
mod order;
mod program;
mod read;
mod rewrite;
mod session;
mod stream;
mod tokens;
mod value;
mod write;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};

use options::{Options, Stop};

/// The stacks a program may run on, the first one that the system grants. Only the part that is used takes memory, but a
/// limit of memory (`ulimit -d`, or `memory` of a sandbox) counts all of it.
const STACKS: [usize; 3] = [512 * 1024 * 1024, 128 * 1024 * 1024, 32 * 1024 * 1024];

/// The version of jq whose manual describes this one best.
const LIKE: &str = "jq-1.8";

const HELP: &str = include_str!("help.txt");

/// Runs jq with the arguments that follow its name. Returns the exit code.
pub fn run(
    arguments: impl Iterator<Item = OsString>,
    stdin: impl Read + Send,
    mut stdout: impl Write + Send,
    mut stderr: impl Write + Send,
) -> u8 {
    let arguments: Vec<_> = arguments.collect();
    let (out, messages) = (&mut stdout, &mut stderr);
    let ended = std::thread::scope(|scope| {
        let work = move |stack| match Options::read(arguments.into_iter()) {
            Ok(options) => session::run(options, stack, stdin, out, messages),
            Err(stop) => told(stop, out, messages),
        };
        // A thread that cannot be started loses what it was given.
        let work = Arc::new(Mutex::new(Some(work)));
        let start = |stack: usize| {
            let work = Arc::clone(&work);
            let run = move || {
                let work = work.lock().ok().and_then(|mut work| work.take());
                work.map_or(Ok(exit::RUNTIME), |work| work(stack))
            };
            std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, run)
        };
        let [first, others @ ..] = STACKS;
        let started =
            others.into_iter().fold(start(first), |started, stack| started.or_else(|_| start(stack)));
        started.map(|thread| thread.join().unwrap_or(Ok(exit::RUNTIME)))
    });
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            let _ = writeln!(stderr, "jq: error: no thread can be started: {}", os_message(&error));
            return exit::USAGE;
        }
    };
    match ended {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::BROKEN_PIPE,
        Err(error) => {
            let _ = writeln!(stderr, "jq: error: writing output failed: {}", os_message(&error));
            exit::USAGE
        }
    }
}

fn told(stop: Stop, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    match stop {
        Stop::Help => stdout.write_all(HELP.as_bytes())?,
        Stop::Version => writeln!(stdout, "{LIKE}")?,
        Stop::Usage(message) => {
            writeln!(stderr, "jq: {message}\nUse jq --help for help with command-line options.")?;
            return Ok(exit::USAGE);
        }
    }
    Ok(exit::SUCCESS)
}

/// An error of the operating system in its own words, without the number Rust adds.
fn os_message(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
