//! Shutdowns: the ways in which a server is terminated, and what it owes in each.

use crate::peer::{Manner, Peer};
use crate::process::Process;
use crate::random::Random;
use crate::run::TIMEOUT;
use crate::traffic::drafts;
use crate::violations::Kind;
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The input is closed after everything is answered.
    Orderly,
    /// The input is closed while requests are open. They are answered.
    InputClosed,
    /// `shutdown` and `exit`. Open requests get some time.
    Exit,
    Terminated,
    Interrupted,
    HungUp,
    Killed,
    /// The client closes its end of the output.
    OutputClosed,
}

impl Ending {
    pub(crate) fn any(random: &mut Random) -> Self {
        random.weighted(&[
            (30, Self::Orderly),
            (20, Self::InputClosed),
            (10, Self::Exit),
            (12, Self::Terminated),
            (3, Self::Interrupted),
            (3, Self::HungUp),
            (12, Self::Killed),
            (10, Self::OutputClosed),
        ])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Orderly => "input closed, all answered",
            Self::InputClosed => "input closed, requests open",
            Self::Exit => "shutdown and exit",
            Self::Terminated => "SIGTERM",
            Self::Interrupted => "SIGINT",
            Self::HungUp => "SIGHUP",
            Self::Killed => "SIGKILL",
            Self::OutputClosed => "output closed",
        }
    }

    /// Whether a request of that method must have been answered.
    fn owes(self, method: &str) -> bool {
        match self {
            Self::Orderly | Self::InputClosed => true,
            Self::Exit => matches!(method, "shutdown" | "exit"),
            _ => false,
        }
    }

    fn bring_about(self, process: &Process, random: &mut Random) {
        let peer = &process.peer;
        if !matches!(self, Self::Orderly | Self::InputClosed | Self::Exit) {
            peer.is_forced.store(true, Ordering::Release);
        }
        match self {
            Self::Orderly | Self::InputClosed => peer.close_input(),
            Self::Exit => exit(peer, random),
            Self::Terminated => process.signal(Signal::TERM),
            Self::Interrupted => process.signal(Signal::INT),
            Self::HungUp => process.signal(Signal::HUP),
            Self::Killed => process.signal(Signal::KILL),
            Self::OutputClosed => peer.closes_output.store(true, Ordering::Release),
        }
    }

    fn is_status_right(self, status: ExitStatus) -> bool {
        match self {
            Self::Orderly | Self::InputClosed | Self::Exit | Self::OutputClosed => status.code() == Some(0),
            Self::Terminated => status.code() == Some(143),
            Self::Interrupted => status.code() == Some(130),
            Self::HungUp => status.code() == Some(129),
            Self::Killed => status.signal() == Some(9),
        }
    }

    /// Shuts the server down, and checks that it exits properly.
    pub(crate) fn end(self, process: &mut Process, random: &mut Random) {
        let peer = process.peer.clone();
        if peer.has_ended() && !peer.is_condemned.load(Ordering::Acquire) {
            let status = process.wait(TIMEOUT);
            let errors = peer.last_errors();
            peer.violation(Kind::Died, &format!("{status:?}; its standard error ends with: {errors}"));
            return;
        }
        self.bring_about(process, random);
        let Some(status) = process.wait(2 * TIMEOUT) else {
            let threads = crate::proc::describe_threads(peer.pid);
            peer.violation(Kind::Hang, &format!("it does not end ({}):\n{threads}", self.name()));
            peer.is_condemned.store(true, Ordering::Release);
            process.signal(Signal::KILL);
            process.wait(TIMEOUT);
            return;
        };
        if peer.is_condemned.load(Ordering::Acquire) {
            return;
        }
        if !self.is_status_right(status) {
            let errors = peer.last_errors();
            peer.violation(
                Kind::ExitStatus,
                &format!("{}: {status}; its standard error ends with: {errors}", self.name()),
            );
        }
        let debts = peer.ledger().debts(|method| self.owes(method));
        if !debts.is_empty() {
            let what = format!("{}, and it owes {}", self.name(), debts.join(", "));
            peer.violation(Kind::Unanswered, &what);
        }
    }
}

fn exit(peer: &Peer, random: &mut Random) {
    if peer.revision.is_stateless() {
        // The stateless era has no such method, so this begins a session.
        peer.request(drafts::initialize_any(), Manner::default());
    }
    peer.request(drafts::shutdown(), Manner::default());
    if random.chance(50) {
        peer.request(drafts::exit(), Manner::default());
    } else {
        peer.notify("exit", &json!({}));
    }
    drop(peer.make_deaf());
}
