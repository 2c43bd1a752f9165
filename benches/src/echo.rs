//! Echo process: returns its input, to measure how long the machine itself delays a message.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::ticker::tick;

/// Does `work` and meanwhile sends a byte to a process and back at regular intervals. Returns the result of
/// `work` and the time of each round trip.
pub fn echo_during<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<(T, Vec<Duration>)> {
    let mut echo = Echo::start()?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let echoing = scope.spawn(|| {
            let mut samples = Vec::new();
            tick(&over, || echo.round_trip().map(|sample| samples.push(sample)))?;
            Ok(samples)
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        let samples = echoing.join().unwrap_or_else(|_| Err(io::Error::other("the echo panicked")));
        Ok((done?, samples?))
    })
}

struct Echo(Child);

impl Echo {
    fn start() -> io::Result<Self> {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map(Self)
    }

    fn round_trip(&mut self) -> io::Result<Duration> {
        let (Some(stdin), Some(stdout)) = (&mut self.0.stdin, &mut self.0.stdout) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let sent = Instant::now();
        stdin.write_all(b"x")?;
        stdout.read_exact(&mut [0])?;
        Ok(sent.elapsed())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // Both fail only if the process has already exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticker::INTERVAL;

    #[test]
    fn round_trips_go_on_while_work_is_done() {
        let ((), samples) = echo_during(|| {
            thread::sleep(INTERVAL * 5);
            Ok(())
        })
        .unwrap();
        assert!((1..=5).contains(&samples.len()), "{} samples", samples.len());
        assert!(echo_during(|| io::Result::<()>::Err(io::ErrorKind::NotFound.into())).is_err());
    }
}
