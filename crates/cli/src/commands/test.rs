//! `mcp-bash test`: the tests of a project. The crate `testing` runs them; this is its command line and its exit codes.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use crate::open::end_signals::EndSignals;
use crate::open::remote_arguments::RemoteArguments;
use mcp_bash_testing::{Loudness, Options, Surroundings, TestError, Verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch::{Receiver, channel};

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a flag of the command line")]
pub(crate) struct Arguments {
    /// Run only what has one of these in its name or its file
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,

    /// Show what there is to run, and run nothing
    #[arg(long, conflicts_with_all = ["update", "watch", "contract", "junit"])]
    list: bool,

    /// Compare what clients see of the project with tests/contract.json: a breaking change fails
    #[arg(long, conflicts_with_all = ["patterns", "watch", "junit", "require_tests"])]
    contract: bool,

    /// Record snapshots (or the contract) again: each change is shown first, and asked about
    #[arg(long)]
    update: bool,

    /// With `--update`, record all changes without asking
    #[arg(short, long)]
    yes: bool,

    /// Run again what is concerned whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["json", "update"])]
    watch: bool,

    /// Report as JSON
    #[arg(long)]
    json: bool,

    /// Write a report as `JUnit` XML to this file too; - is standard output, in place of the other report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// How many cases are run at once; as many as there are processors by default
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    /// Fail if a tool has no test
    #[arg(long)]
    require_tests: bool,

    /// Do not fail because bats, which runs test/*.bats, is not installed
    #[arg(long)]
    allow_missing: bool,

    #[command(flatten)]
    remote: RemoteArguments,
}

/// Two reports cannot share standard output.
const TWO_REPORTS: &str =
    "`--junit -` and `--json` both are for standard output: give one of them a file, `--junit report.xml`";

const EXAMPLES: &str = "\
Examples:
  mcp-bash test                               all tests of the project
  mcp-bash test hello                         those of one tool, or of files with that name
  mcp-bash test 'hello/greets by name' -v     one case
  mcp-bash test --update                      look at changed results and record them
  mcp-bash test --watch                       again and again, as you write
  mcp-bash test --junit report.xml            for a CI service
  mcp-bash test --contract                    does a change break clients?
  mcp-bash test --url https://example.com/mcp the same cases with a server that is running

A case is a few lines of YAML in tools/NAME/tests/:
  - name: greets by name
    arguments: { name: Ada }
    expect: { text: \"Hello, Ada!\" }

Exit codes: 0 all passed, 1 some failed, 2 a case file cannot be read, 4 nothing matches,
130 Ctrl-C.
docs/testing.md says what a case can hold.";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.json && arguments.junit.as_deref() == Some(Path::new("-")) {
        return Err(Error::of_command(Exit::Usage, TWO_REPORTS));
    }
    let remote = arguments.remote.read()?;
    let read = || {
        OpenProject::read(common, |settings| settings.leaves_no_trace = true).map(|project| project.catalog)
    };
    let catalog = read()?;
    let start = |source| Error::Start { source };
    let runtime = Builder::new_current_thread().enable_all().build().map_err(start)?;
    let surroundings = Surroundings {
        stop: catch_signals(&runtime)?,
        runtime,
        program: std::env::current_exe().map_err(start)?,
        remote,
        read_again: &|| read().map_err(|error| error.to_string()),
    };
    let verdict = mcp_bash_testing::run(&arguments.options(common), &catalog, surroundings);
    let exit = match verdict.map_err(|error| Error::of_command(exit_of(&error), error))? {
        Verdict::Passed => Exit::Done,
        Verdict::Failed => Exit::Failed,
        Verdict::Interrupted => Exit::Interrupted,
    };
    Ok(exit.into())
}

impl Arguments {
    fn options(&self, common: &Common) -> Options {
        let given = self.clone();
        Options {
            patterns: given.patterns,
            list: given.list,
            contract: given.contract,
            update: given.update,
            yes: given.yes,
            watch: given.watch,
            json: given.json,
            junit: given.junit,
            jobs: given.jobs,
            require_tests: given.require_tests,
            allow_missing: given.allow_missing,
            server_flags: given.remote.flags(),
            loudness: match (common.quiet, common.verbose) {
                (true, _) => Loudness::Quiet,
                (_, true) => Loudness::Each,
                _ => Loudness::Usual,
            },
        }
    }
}

/// Becomes true on Ctrl-C or another signal to exit.
fn catch_signals(runtime: &Runtime) -> Result<Receiver<bool>, Error> {
    let mut signals = EndSignals::catch(runtime)?;
    let (sender, stop) = channel(false);
    runtime.spawn(async move {
        signals.next().await;
        let _ = sender.send(true);
        // Later receivers see it too.
        sender.closed().await;
    });
    Ok(stop)
}

fn exit_of(error: &TestError) -> Exit {
    match error {
        TestError::CaseFiles { .. } | TestError::NobodyToAsk | TestError::BadContract { .. } => Exit::Usage,
        TestError::NothingMatches { .. } => Exit::NotFound,
        TestError::Interrupted => Exit::Interrupted,
        TestError::NoServer(_) => Exit::NoServer,
        TestError::Write { .. }
        | TestError::TemporaryFolder(_)
        | TestError::Watch(_)
        | TestError::NoContract { .. }
        | TestError::Print(_) => Exit::Failed,
    }
}
