//! `mcp-bash sandbox status`: tries what a sandbox promises, once free and once confined, in the way in which a tool runs.

use super::promises::{Mechanism, PROMISES, Promise};
use super::stage::Stage;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::startup;
use crate::report::finding::{Finding, Grade};
use crate::report::text::Layout;
use crate::report::{Group, Report};
use crate::terminal::print::print;
use mcp_bash_runner::group_powers;
use mcp_bash_sandbox::{
    Advice, Declaration, KernelFiles, Machine, Mode, PROBE_ARGUMENT, PROBED_LIMITS, Trial, claimed_version,
};
use mcp_bash_scripts::{Probe, ProcessEnding, Scripts};
use mcp_bash_terminal::Terminal;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Enforced,
    Partly,
    Not,
    /// This machine cannot do it without a sandbox either.
    Untested,
}

/// A trial, and how it went: an error is the reason why it failed.
struct Tried {
    trial: Trial,
    free: Result<(), String>,
    /// `None` if it was not tried, because it failed without a sandbox.
    confined: Option<Result<(), String>>,
}

struct Row {
    promise: &'static Promise,
    mechanism: &'static str,
    state: State,
    why: Option<String>,
    advice: Option<Advice>,
    tried: Vec<Tried>,
}

pub(super) fn run(as_json: bool) -> Result<ExitCode, Error> {
    let failed = |error: String| Error::of_command(Exit::Failed, error);
    let (mut settings, _) = startup::settings();
    // What the operator decides for scripts does not decide what this machine can do.
    settings.sandbox = None;
    settings.leaves_no_trace = true;
    let (_runtime, scripts) = startup::scripts(settings)?;
    let stage = Stage::make(scripts.state_dir())
        .map_err(|error| failed(format!("nothing can be tried here: {error}")))?;
    let machine = Machine::this().map_err(|error| failed(format!("nothing can be tried now: {error}")))?;
    let tester = Tester::new(&scripts, &stage, machine).map_err(failed)?;
    let rows: Vec<Row> = PROMISES.iter().map(|promise| tester.row(promise)).collect();
    scripts.end(Duration::ZERO);
    let exit = if rows.iter().any(|row| row.state == State::Not) { Exit::Failed } else { Exit::Done };
    let text =
        if as_json { to_json(&rows, machine, exit) } else { text(&rows, machine, Terminal::of_stdout()) };
    print(&text)?;
    Ok(exit.into())
}

struct Tester<'a> {
    scripts: &'a Scripts,
    stage: &'a Stage,
    machine: &'a Machine,
    free: Declaration,
    confined: Declaration,
}

impl<'a> Tester<'a> {
    fn new(scripts: &'a Scripts, stage: &'a Stage, machine: &'a Machine) -> Result<Self, String> {
        let confined = format!(r#"{{"mode":"on","network":"none",{PROBED_LIMITS}}}"#);
        let confined = Declaration::parse(&confined).map_err(|error| error.to_string())?;
        Ok(Self { scripts, stage, machine, free: Declaration::of(Mode::Off), confined })
    }

    fn row(&self, promise: &'static Promise) -> Row {
        let tried: Vec<Tried> = promise.trials.iter().map(|trial| self.tried(*trial)).collect();
        let (state, why) = judge(&tried);
        let is_short = matches!(state, State::Partly | State::Not);
        let (mechanism, missing) = mechanism(promise.mechanism, self.machine);
        let needs = || Advice { cause: String::new(), fix: promise.needs.to_owned(), command: None };
        let advice = is_short.then(|| missing.unwrap_or_else(needs));
        let advice = advice.filter(|advice| !advice.fix.is_empty());
        let why = match &advice {
            Some(advice) if !advice.cause.is_empty() => Some(advice.cause.clone()),
            _ => why,
        };
        Row { promise, mechanism, state, why, advice, tried }
    }

    fn tried(&self, trial: Trial) -> Tried {
        let free = self.attempt(trial, &self.free);
        let confined = free.is_ok().then(|| self.attempt(trial, &self.confined));
        Tried { trial, free, confined }
    }

    /// Runs a probe. An error says why it did not succeed.
    fn attempt(&self, trial: Trial, declaration: &Declaration) -> Result<(), String> {
        let target = self.stage.target(trial).map_err(|error| error.to_string())?;
        let words = vec![PROBE_ARGUMENT.into(), trial.name().into(), target];
        let probe = Probe { folder: self.stage.project(), declaration, words };
        let outcome = self.scripts.run_probe(probe)?;
        match outcome.ending {
            ProcessEnding::Exited(0) if self.stage.has_noticed(trial) => Ok(()),
            ProcessEnding::Exited(0) => Err("nothing arrived".to_owned()),
            ProcessEnding::Exited(_) => Err(outcome.text().trim().to_owned()),
            _ => Err(outcome.failure()),
        }
    }
}

/// The state of a promise with these trials, and why it is not enforced.
fn judge(tried: &[Tried]) -> (State, Option<String>) {
    let tested = || tried.iter().filter_map(|tried| Some((tried, tried.confined.as_ref()?)));
    let open: Vec<&str> =
        tested().filter(|(_, confined)| confined.is_ok()).map(|(tried, _)| tried.trial.name()).collect();
    let untested = tried.iter().filter_map(|tried| Some((tried.trial.name(), tried.free.as_ref().err()?)));
    let untested: Vec<String> = untested.map(|(name, why)| format!("{name} ({why})")).collect();
    let state = match (tested().count(), open.len()) {
        (0, _) => State::Untested,
        (_, 0) => State::Enforced,
        (all, open) if all == open => State::Not,
        _ => State::Partly,
    };
    let mut why = Vec::new();
    if !open.is_empty() {
        why.push(format!("possible in a sandbox: {}", open.join(", ")));
    }
    if !untested.is_empty() {
        why.push(format!("not possible without a sandbox either: {}", untested.join(", ")));
    }
    (state, (!why.is_empty()).then(|| why.join("; ")))
}

/// The name of a mechanism on this machine, and the advice if it is missing.
fn mechanism(mechanism: Mechanism, machine: &Machine) -> (&'static str, Option<Advice>) {
    let no_landlock = || {
        let error = claimed_version().err()?;
        Some(KernelFiles::of_this_machine().without_landlock(&error))
    };
    let no_namespaces = || {
        let error = machine.namespaces.as_ref().err()?;
        Some(KernelFiles::of_this_machine().without_namespaces(error))
    };
    match mechanism {
        Mechanism::Landlock | Mechanism::UnixSockets => ("Landlock", no_landlock()),
        Mechanism::Network if machine.namespaces.is_ok() => ("network namespace", None),
        Mechanism::Network => ("seccomp", no_namespaces()),
        Mechanism::Seccomp => ("seccomp", None),
        Mechanism::Limit(name) => (name, None),
        Mechanism::Memory if group_powers().memory => ("control group", None),
        Mechanism::Memory => ("RLIMIT_DATA", None),
        Mechanism::Processes if group_powers().processes => ("control group", None),
        Mechanism::Processes if machine.is_root => ("RLIMIT_NPROC", None),
        Mechanism::Processes => ("RLIMIT_NPROC", no_namespaces()),
    }
}

/// The mechanisms of this machine.
fn mechanisms(machine: &Machine) -> Vec<Finding> {
    let files = KernelFiles::of_this_machine();
    let advised = |finding: Finding, advice: Advice| {
        let finding = finding.remedy(advice.fix);
        match advice.command {
            Some(command) => finding.command(command),
            None => finding,
        }
    };
    let landlock = match claimed_version() {
        Ok(version) => Finding::good("landlock", format!("Landlock, version {version}")),
        Err(error) => {
            let advice = files.without_landlock(&error);
            advised(Finding::error("landlock", format!("no Landlock: {}", advice.cause)), advice)
        }
    };
    let seccomp = match &machine.seccomp {
        Ok(()) => Finding::good("seccomp", "filters of system calls (seccomp)"),
        Err(why) => Finding::error("seccomp", format!("no filters of system calls: {why}")),
    };
    let namespaces = match &machine.namespaces {
        Ok(powers) if powers.has_loopback && powers.has_user => {
            Finding::good("namespaces", "user and network namespaces")
        }
        Ok(powers) if powers.has_loopback => Finding::warning(
            "namespaces",
            "network namespaces, and no user namespaces: processes are not counted",
        ),
        Ok(_) => {
            let advice = files.without_namespaces("the loopback device cannot be switched on");
            let words = "network namespaces without a loopback device, so that lists of hosts are held by other means";
            advised(Finding::warning("namespaces", words), advice)
        }
        Err(error) => {
            let advice = files.without_namespaces(error);
            let words = format!(
                "no namespaces: {}; `\"network\": \"none\"` holds without them, by seccomp",
                advice.cause
            );
            advised(Finding::warning("namespaces", words), advice)
        }
    };
    vec![landlock, seccomp, namespaces]
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Partly => "partly",
            Self::Not => "not",
            Self::Untested => "untested",
        }
    }

    fn grade(self) -> Grade {
        match self {
            Self::Enforced => Grade::Good,
            Self::Partly => Grade::Warning,
            Self::Not => Grade::Error,
            Self::Untested => Grade::Note,
        }
    }
}

fn text(rows: &[Row], machine: &Machine, terminal: Terminal) -> String {
    let finding = |row: &Row| {
        let why = row.why.as_deref().unwrap_or_default();
        let line = format!("{:<29} {:<9} {:<18} {why}", row.promise.name, row.state.word(), row.mechanism);
        let finding = Finding::new("", row.state.grade(), line.trim_end());
        let Some(advice) = &row.advice else { return finding };
        let finding = finding.remedy(advice.fix.clone());
        match &advice.command {
            Some(command) => finding.command(command.clone()),
            None => finding,
        }
    };
    let groups = vec![
        Group::new("Mechanisms of this machine", mechanisms(machine)),
        Group::new("Promises of a sandbox, as tried", rows.iter().map(finding).collect()),
    ];
    let count = |state: State| rows.iter().filter(|row| row.state == state).count();
    let [enforced, partly, not, untested] =
        [State::Enforced, State::Partly, State::Not, State::Untested].map(count);
    let untested = if untested == 0 { String::new() } else { format!(", {untested} untested") };
    let report = Report { root: None, groups };
    format!(
        "{}{enforced} enforced, {partly} partly, {not} not{untested}\n",
        report.text(Layout::Subjects, terminal, |_| true)
    )
}

fn to_json(rows: &[Row], machine: &Machine, exit: Exit) -> String {
    let outcome = |tried: &Result<(), String>| match tried {
        Ok(()) => json!("done"),
        Err(why) => json!(format!("refused: {why}")),
    };
    let tried = |tried: &Tried| {
        let confined = tried.confined.as_ref().map(outcome);
        json!({ "trial": tried.trial.name(), "free": outcome(&tried.free), "confined": confined })
    };
    let row = |row: &Row| {
        json!({
            "promise": row.promise.name,
            "state": row.state.word(),
            "mechanism": row.mechanism,
            "why": row.why,
            "fix": row.advice.as_ref().map(|advice| &advice.fix),
            "command": row.advice.as_ref().and_then(|advice| advice.command.as_ref()),
            "trials": row.tried.iter().map(tried).collect::<Vec<_>>(),
        })
    };
    let mechanism = |finding: Finding| {
        let member = json!({
            "name": finding.id,
            "isAvailable": !finding.grade.is_bad(),
            "words": finding.problem,
            "fix": finding.remedy,
            "command": finding.command,
        });
        member
    };
    let report = json!({
        "exitCode": exit.number(),
        "isRoot": machine.is_root,
        "mechanisms": mechanisms(machine).into_iter().map(mechanism).collect::<Vec<_>>(),
        "promises": rows.iter().map(row).collect::<Vec<Value>>(),
    });
    format!("{report:#}\n")
}
