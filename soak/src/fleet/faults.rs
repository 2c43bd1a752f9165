//! Faults: what is done to the fleet, and a log of it that explains what clients see.

use super::link::{Mode, lock};
use super::servers::Fleet;
use crate::random::Random;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a lease of a task lasts.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// Until this long after a fault, its effects may be seen.
const GRACE: Duration = Duration::from_secs(3);

/// Only a run that lasts this long has faults that outlast a lease.
const LONG_RUN: Duration = Duration::from_secs(180);

/// The longest fault.
const LONGEST: Duration = Duration::from_secs(75);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The server is killed, and started again.
    Kill,
    /// The server gets no new requests, is told to end, and is started again: a rolling upgrade.
    Upgrade,
    Freeze,
    CutFromDatabase(Mode),
    CutFromClients(Mode),
    RestartDatabase,
}

const KINDS: [(u64, Kind); 10] = [
    (4, Kind::Kill),
    (2, Kind::Upgrade),
    (3, Kind::Freeze),
    (2, Kind::CutFromDatabase(Mode::Refusing)),
    (2, Kind::CutFromDatabase(Mode::Silent)),
    (1, Kind::CutFromDatabase(Mode::Slow)),
    (1, Kind::CutFromClients(Mode::Refusing)),
    (1, Kind::CutFromClients(Mode::Silent)),
    (1, Kind::CutFromClients(Mode::Slow)),
    (2, Kind::RestartDatabase),
];

impl Kind {
    /// Whether the server may lose connections of clients, or not answer them.
    pub(super) fn cuts_clients_off(self) -> bool {
        matches!(self, Self::Kill | Self::Freeze | Self::CutFromClients(_))
    }

    pub(super) fn keeps_database_away(self) -> bool {
        matches!(self, Self::CutFromDatabase(_) | Self::RestartDatabase)
    }

    /// Whether its server ends.
    pub(super) fn ends_server(self) -> bool {
        matches!(self, Self::Kill | Self::Upgrade)
    }
}

#[derive(Debug)]
struct Fault {
    kind: Kind,
    /// `None` if it concerns all.
    server: Option<usize>,
    from: Instant,
    until: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct FaultLog(Mutex<Vec<Fault>>);

impl FaultLog {
    pub(super) fn begin(&self, kind: Kind, server: Option<usize>) -> usize {
        let mut faults = lock(&self.0);
        faults.push(Fault { kind, server, from: Instant::now(), until: None });
        faults.len() - 1
    }

    fn end(&self, fault: usize) {
        lock(&self.0)[fault].until = Some(Instant::now());
    }

    /// Whether there was such a fault of that server, or of any, in a time or shortly before it.
    pub(super) fn had(
        &self,
        server: Option<usize>,
        (from, to): (Instant, Instant),
        is_cause: impl Fn(Kind) -> bool,
    ) -> bool {
        lock(&self.0).iter().any(|fault| {
            let concerns = server.is_none() || fault.server.is_none() || fault.server == server;
            let is_then = fault.from <= to && fault.until.is_none_or(|until| until + GRACE >= from);
            concerns && is_then && is_cause(fault.kind)
        })
    }

    /// Whether a server, or any, may have lost a lease in a time: it ended, or a fault outlasted the lease. Renewals are due
    /// after a third of it, so a shorter fault is enough if it comes at the wrong moment.
    pub(super) fn may_cost_a_lease(&self, server: Option<usize>, (from, to): (Instant, Instant)) -> bool {
        lock(&self.0).iter().any(|fault| {
            let concerns = server.is_none() || fault.server == server;
            let until = fault.until.unwrap_or(to);
            let is_then = fault.from <= to && until >= from;
            let is_long = until.saturating_duration_since(fault.from) >= LEASE / 2;
            let outlasts = is_long && matches!(fault.kind, Kind::Freeze | Kind::CutFromDatabase(_));
            concerns && is_then && (fault.kind.ends_server() || outlasts)
        })
    }

    pub(super) fn describe(&self, begun: Instant) -> String {
        let since = |time: Instant| time.saturating_duration_since(begun).as_secs_f64();
        let faults = lock(&self.0);
        let lines = faults.iter().map(|fault| {
            let server = fault.server.map_or_else(String::new, |server| format!(" server {server}"));
            let until = fault.until.map_or(f64::NAN, since);
            format!("  {:.1} to {until:.1} s: {:?}{server}", since(fault.from), fault.kind)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// One fault after the other until the time is over. Each has healed when this returns.
pub(super) fn rage(fleet: &Fleet, mut random: Random, length: Duration, until: Instant) {
    loop {
        sleep(random.millis(300, 2500));
        if Instant::now() >= until {
            return;
        }
        let kind = random.weighted(&KINDS);
        let number = usize::try_from(random.below(fleet.places.len() as u64)).unwrap_or(0);
        let is_long = length >= LONG_RUN && random.chance(8) && Instant::now() + LONGEST < until;
        let span = if is_long { random.millis(20_000, 75_000) } else { random.millis(200, 5000) };
        fleet.ledger.note(&format!("{kind:?}"));
        strike(fleet, kind, number, span);
    }
}

fn strike(fleet: &Fleet, kind: Kind, number: usize, span: Duration) {
    if kind == Kind::RestartDatabase {
        let mut database = lock(&fleet.database);
        let fault = fleet.faults.begin(kind, None);
        database.kill();
        sleep(span);
        database.start_again();
        fleet.faults.end(fault);
        return;
    }
    let place = &fleet.places[number];
    // One fault of a server at a time.
    let _turn = lock(&place.turn);
    let fault = fleet.faults.begin(kind, Some(number));
    match kind {
        Kind::Kill => {
            place.kill(fleet);
            sleep(span / 4);
            place.start(fleet);
        }
        Kind::Upgrade => {
            place.stop(fleet);
            place.start(fleet);
        }
        Kind::Freeze => {
            place.freeze();
            sleep(span);
            place.thaw();
        }
        Kind::CutFromDatabase(mode) => cut(&place.back, mode, span),
        Kind::CutFromClients(mode) => cut(&place.front, mode, span),
        Kind::RestartDatabase => {}
    }
    fleet.faults.end(fault);
}

fn cut(link: &super::link::Link, mode: Mode, span: Duration) {
    link.set(mode);
    sleep(span);
    link.set(Mode::Open);
}
