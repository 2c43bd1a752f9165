//! Crowd: many calls in flight at a server, and how long others wait meanwhile.

use std::io::Write;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::proc_usage::CpuTime;
use crate::replies::{Line, ReplyLines, judge};
use crate::ticker::{INTERVAL, tick};
use crate::{Failure, Request, Subject};

/// The limit of small requests: the watchdog kills a server that needs more time anyway.
const MOST_PROBES: u32 = 60_000 / INTERVAL.subsec_millis();

/// The outcome.
#[derive(Debug)]
pub struct Crowd {
    /// From the first call until the last was answered.
    pub elapsed: Duration,
    /// The processor time of the server process in that time, without its children.
    pub cpu: Duration,
    /// The times of the small requests that were sent meanwhile.
    pub probes: Vec<Duration>,
}

/// Sends `call` until `count` of them are answered, with `at_once` in flight, and `probe` at regular
/// intervals. `check` returns what is wrong with the answer to a call.
pub fn crowd(
    subject: &mut Subject,
    call: &Request,
    (count, at_once): (u32, u32),
    probe: &Request,
    check: impl Fn(&[u8]) -> Result<(), String>,
) -> Result<Crowd, Failure> {
    subject.begin_measure();
    let first = subject.reserve_ids(count + MOST_PROBES);
    let cpu = |subject: &mut Subject| {
        CpuTime::of(subject.pid()).map_err(|error| subject.failure(&format!("its processor time: {error}")))
    };
    let cpu_before = cpu(subject)?;
    let Some((stdin, replies)) = subject.pipes() else { return Err(subject.failure("its input is closed")) };
    let probes = Probes { request: probe, first: first + count, times: Mutex::default() };
    let exchange = Exchange { call, first, count, at_once, stdin, probes: &probes };
    let elapsed = exchange.run(replies, check).map_err(|what| subject.failure(&what))?;
    let cpu = cpu(subject)?.since(cpu_before);
    let probes = probes.times().iter().filter_map(|probe| probe.took).collect();
    Ok(Crowd { elapsed, cpu, probes })
}

/// The small requests and their times.
struct Probes<'a> {
    request: &'a Request,
    first: u32,
    times: Mutex<Vec<Probe>>,
}

struct Probe {
    sent: Instant,
    took: Option<Duration>,
}

impl Probes<'_> {
    fn send(&self, stdin: &ChildStdin) -> Result<(), String> {
        let id = {
            let mut times = self.times();
            let id = self.first + u32::try_from(times.len()).unwrap_or(MOST_PROBES);
            if id >= self.first + MOST_PROBES {
                return Ok(());
            }
            times.push(Probe { sent: Instant::now(), took: None });
            id
        };
        send(stdin, self.request, id)
    }

    /// Records an answer. False if no such request was sent.
    fn answered(&self, id: u32) -> bool {
        let index = id.checked_sub(self.first).map(|index| index as usize);
        let mut times = self.times();
        let Some(probe) = index.and_then(|index| times.get_mut(index)) else { return false };
        probe.took = Some(probe.sent.elapsed());
        true
    }

    fn all_answered(&self) -> bool {
        self.times().iter().all(|probe| probe.took.is_some())
    }

    fn times(&self) -> MutexGuard<'_, Vec<Probe>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Exchange<'a> {
    call: &'a Request,
    first: u32,
    count: u32,
    at_once: u32,
    /// Two threads write to it, each a line at a time. Writes of such short lines to a pipe are atomic.
    stdin: &'a ChildStdin,
    probes: &'a Probes<'a>,
}

impl Exchange<'_> {
    fn run(
        &self,
        replies: &mut ReplyLines<ChildStdout>,
        check: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<Duration, String> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let probing = scope.spawn(|| tick(&over, || self.probes.send(self.stdin)));
            let read = self.call_all(replies, &check);
            over.store(true, Ordering::Relaxed);
            let probed = probing.join().unwrap_or_else(|_| Err("the other thread panicked".to_owned()));
            let elapsed = read?;
            probed?;
            while !self.probes.all_answered() {
                let line = replies.next_line().map_err(|error| error.to_string())?;
                if let Line::Answer(id) = judge(line)? {
                    self.probes.answered(id);
                }
            }
            Ok(elapsed)
        })
    }

    fn call_all(
        &self,
        replies: &mut ReplyLines<ChildStdout>,
        check: &impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<Duration, String> {
        let began = Instant::now();
        let mut sent = self.at_once.min(self.count);
        for id in self.first..self.first + sent {
            send(self.stdin, self.call, id)?;
        }
        let mut answered = 0;
        loop {
            let line = replies.next_line().map_err(|error| format!("{error}, after {answered} answers"))?;
            let Line::Answer(id) = judge(line)? else { continue };
            if self.probes.answered(id) {
                continue;
            }
            check(line)?;
            answered += 1;
            if answered == self.count {
                return Ok(began.elapsed());
            }
            if sent < self.count {
                send(self.stdin, self.call, self.first + sent)?;
                sent += 1;
            }
        }
    }
}

fn send(mut stdin: &ChildStdin, request: &Request, id: u32) -> Result<(), String> {
    let mut line = Vec::with_capacity(128);
    request.write_line(id, &mut line);
    stdin.write_all(&line).map_err(|error| format!("it takes no more input: {error}"))
}
