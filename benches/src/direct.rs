//! Direct runs: a script without a server in between, which is the minimum cost of a call.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A script that is started directly, in the cheapest way.
#[derive(Debug)]
pub struct Script {
    path: PathBuf,
    arguments: &'static [&'static str],
    /// Its last output. Kept so that its memory is allocated before the clock runs.
    printed: Vec<u8>,
}

impl Script {
    pub fn new(path: PathBuf) -> Self {
        Self { path, arguments: &[], printed: Vec::new() }
    }

    /// The same script with arguments on its command line.
    #[must_use]
    pub fn with_arguments(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    /// Runs the script once, with or without `input`. Returns the time from before the start until the
    /// process exits.
    pub fn run(&mut self, input: Option<&[u8]>) -> io::Result<Duration> {
        self.printed.clear();
        let began = Instant::now();
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut child =
            Command::new(&self.path).args(self.arguments).stdin(stdin).stdout(Stdio::piped()).spawn()?;
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            pipe.write_all(input)?;
        }
        if let Some(mut pipe) = child.stdout.take() {
            pipe.read_to_end(&mut self.printed)?;
        }
        let status = child.wait()?;
        let elapsed = began.elapsed();
        if !status.success() {
            return Err(io::Error::other(format!("it ended with {status}")));
        }
        Ok(elapsed)
    }

    /// The output of the last run.
    pub fn printed(&self) -> &[u8] {
        &self.printed
    }

    /// Runs the script `count` times with `at_once` in flight, and returns the total time.
    ///
    /// One thread per run in flight was the fastest of several ways: the kernel creates the children in
    /// parallel, and no thread has to find out which of them has exited.
    pub fn run_many(&self, count: u32, at_once: u32) -> io::Result<Duration> {
        let started = AtomicU32::new(0);
        let repeat = || {
            let mut script = Self::new(self.path.clone());
            while started.fetch_add(1, Ordering::Relaxed) < count {
                script.run(None)?;
            }
            Ok(())
        };
        let began = Instant::now();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(repeat)).collect();
            let mut outcomes = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked"))));
            outcomes.try_for_each(|outcome: io::Result<()>| outcome)
        })?;
        Ok(began.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_receives_its_input_and_its_output_is_kept() {
        let mut script = Script::new("/bin/cat".into());
        script.run(Some(b"hello")).unwrap();
        assert_eq!(script.printed(), b"hello");
        script.run(None).unwrap();
        assert_eq!(script.printed(), b"");
        script.run_many(5, 2).unwrap();
        assert!(Script::new("/bin/false".into()).run(None).is_err());
    }
}
