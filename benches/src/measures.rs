//! Measures: each takes a server and returns its findings, without averaging over rounds.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::thread;
use std::time::{Duration, Instant};

use crate::placement::{Held, Placement};
use crate::proc_usage::{CpuTime, Memory};
use crate::process::ServerProcess;
use crate::replies::{Line, ReplyLines, judge};
use crate::{Failure, Launch, Request, Subject};

/// How long a server may settle after `initialize` before its memory is read.
const SETTLING: Duration = Duration::from_millis(300);

/// The lifetime of a process without any work in between.
#[derive(Debug, Clone, Copy)]
pub struct Lifetime {
    /// From the start of the process until the `initialize` reply is complete.
    pub cold_start: Duration,
    /// From the end of the server's input until the process exits.
    pub exit: Duration,
}

/// Starts a fresh process, performs the handshake and lets it exit.
pub fn lifetime(launch: &Launch) -> Result<Lifetime, Failure> {
    let (subject, cold_start) = Subject::start_initialized(launch)?;
    let exit = subject.close()?;
    Ok(Lifetime { cold_start, exit })
}

/// Starts a program, and returns the time until it has written a line.
pub fn first_line(launch: &Launch) -> Result<Duration, Failure> {
    let (mut process, _stdin, stdout) = ServerProcess::start(launch)?;
    let mut line = String::new();
    let read = BufReader::new(stdout).read_line(&mut line);
    let elapsed = process.age();
    match read {
        Ok(count) if count > 0 => Ok(elapsed),
        _ => Err(process.failure("it wrote no line")),
    }
}

/// The memory of an idle server after the handshake.
pub fn idle_memory(subject: &mut Subject) -> Result<Memory, Failure> {
    thread::sleep(SETTLING);
    Memory::of(subject.pid()).map_err(|error| subject.failure(&format!("its memory: {error}")))
}

/// Sends `request` repeatedly, each time waiting for the answer, and returns the times. The first `warm_up`
/// answers do not count.
pub fn round_trips(
    subject: &mut Subject,
    request: &Request,
    placement: Placement,
    warm_up: u32,
    count: u32,
) -> Result<Vec<Duration>, Failure> {
    subject.begin_measure();
    let held = Held::new(subject.pid(), placement);
    let _held = held.map_err(|error| subject.failure(&format!("its place on the processor: {error}")))?;
    for _ in 0..warm_up {
        subject.call(request)?;
    }
    (0..count).map(|_| subject.call(request)).collect()
}

/// The outcome of many requests that were sent without waiting for answers.
#[derive(Debug, Clone, Copy)]
pub struct Flood {
    pub count: u32,
    /// From the first byte written until the last answer was complete.
    pub elapsed: Duration,
    /// The processor time of the server process in that time.
    pub cpu: Duration,
}

impl Flood {
    pub fn per_second(&self) -> f64 {
        f64::from(self.count) / self.elapsed.as_secs_f64()
    }

    pub fn cpu_per_message(&self) -> Duration {
        self.cpu / self.count.max(1)
    }
}

/// Writes `count` requests as fast as the pipe accepts them while the answers are read, and checks that every
/// request is answered exactly once.
pub fn flood(subject: &mut Subject, request: &Request, count: u32) -> Result<Flood, Failure> {
    subject.begin_measure();
    let first_id = subject.reserve_ids(count);
    let mut input = Vec::new();
    for id in first_id..first_id + count {
        request.write_line(id, &mut input);
    }
    let mut answers = Answers::awaiting(first_id, count);

    let cpu_before = cpu_time(subject)?;
    let Some((stdin, replies)) = subject.pipes() else { return Err(subject.failure("its input is closed")) };
    let began = Instant::now();
    let outcome = exchange(stdin, replies, &input, &mut answers);
    let ended = match outcome {
        Ok(ended) => ended,
        Err(what) => {
            // Answers before the failure are counted for the message; they cannot add to the failure.
            let _ = answers.check();
            let answered = count - answers.missing;
            return Err(subject.failure(&format!("{what}, after {answered} answers of {count}")));
        }
    };
    let cpu = cpu_time(subject)?.since(cpu_before);
    Ok(Flood { count, elapsed: ended - began, cpu })
}

/// Writes in one thread and reads in another. Returns the time when the last answer was complete.
fn exchange(
    stdin: &mut ChildStdin,
    replies: &mut ReplyLines<ChildStdout>,
    input: &[u8],
    answers: &mut Answers,
) -> Result<Instant, String> {
    thread::scope(|scope| {
        let writer = scope.spawn(move || stdin.write_all(input));
        let read = read_answers(replies, answers);
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")));
        // If the server died, both fail; the reading side knows better how far it got.
        let ended = read?;
        written.map_err(|error| format!("it takes no more input: {error}"))?;
        Ok(ended)
    })
}

fn read_answers(replies: &mut ReplyLines<ChildStdout>, answers: &mut Answers) -> Result<Instant, String> {
    loop {
        answers.read_lines(replies).map_err(|error| error.to_string())?;
        // The clock stops here, before the answers are checked. Only if the server wrote other messages in
        // between is there more to read, and then the clock continues.
        let ended = Instant::now();
        answers.check()?;
        if answers.missing == 0 {
            return Ok(ended);
        }
    }
}

fn cpu_time(subject: &mut Subject) -> Result<CpuTime, Failure> {
    CpuTime::of(subject.pid()).map_err(|error| subject.failure(&format!("its processor time: {error}")))
}

/// The answers to a flood, kept raw while the clock runs and checked afterwards.
///
/// Parsing while reading would compete with the server for the processor, so reading only counts line ends.
struct Answers {
    bytes: Vec<u8>,
    filled: usize,
    checked: usize,
    /// Complete lines that are in `bytes` but not checked yet.
    unchecked_lines: u32,
    first_id: u32,
    seen: Vec<bool>,
    missing: u32,
}

impl Answers {
    fn awaiting(first_id: u32, count: u32) -> Self {
        let requests = count as usize;
        Self {
            // Filling the buffer with something other than zeroes makes the kernel provide its pages now
            // and not while the clock runs.
            bytes: vec![b' '; requests * 64 + 64 * 1024],
            filled: 0,
            checked: 0,
            unchecked_lines: 0,
            first_id,
            seen: vec![false; requests],
            missing: count,
        }
    }

    /// Reads until there are as many new lines as missing answers.
    fn read_lines(&mut self, replies: &mut ReplyLines<ChildStdout>) -> io::Result<()> {
        while self.unchecked_lines < self.missing {
            if self.filled == self.bytes.len() {
                self.bytes.resize(self.bytes.len() * 2, b' ');
            }
            let count = replies.read_raw(&mut self.bytes[self.filled..])?;
            let new = &self.bytes[self.filled..self.filled + count];
            let lines = u32::try_from(memchr::memchr_iter(b'\n', new).count()).unwrap_or(u32::MAX);
            self.unchecked_lines = self.unchecked_lines.saturating_add(lines);
            self.filled += count;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        while let Some(length) = memchr::memchr(b'\n', &self.bytes[self.checked..self.filled]) {
            let line = &self.bytes[self.checked..self.checked + length];
            self.checked += length + 1;
            let Line::Answer(id) = judge(line)? else { continue };
            let index = id.checked_sub(self.first_id).map(|index| index as usize);
            match index.and_then(|index| self.seen.get_mut(index)) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(format!("it answered request {id} twice")),
                None => return Err(format!("it answered request {id}, which was not sent")),
            }
            self.missing -= 1;
        }
        self.unchecked_lines = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> (Result<(), String>, u32) {
        let mut answers = Answers::awaiting(5, 2);
        answers.bytes[..text.len()].copy_from_slice(text.as_bytes());
        answers.filled = text.len();
        (answers.check(), answers.missing)
    }

    #[test]
    fn every_id_must_come_back_exactly_once() {
        let five = "{\"id\":5,\"result\":{}}\n";
        let six = "{\"id\":6,\"result\":{}}\n";
        let note = "{\"method\":\"notifications/message\"}\n";
        assert_eq!(checked(&format!("{six}{note}{five}")), (Ok(()), 0));
        assert_eq!(checked(&format!("{note}{five}")), (Ok(()), 1));
        assert!(checked(&format!("{five}{five}")).0.unwrap_err().contains("twice"));
        assert!(checked("{\"id\":7,\"result\":{}}\n").0.unwrap_err().contains("not sent"));
        assert!(checked("{\"id\":4,\"result\":{}}\n").0.unwrap_err().contains("not sent"));
    }
}
