//! Tests of a project, as `mcp-bash test` runs them against a real server.
//!
//! # Theory of operation
//!
//! Cases are YAML files beside what they test (`cases`). Several workers (`run`) take one after another, each
//! with a folder of its own (`folder`) and a server of its own (`server`): the program that `Surroundings` names, started
//! as a client starts it. The result (`result`, `host`) is compared with what the case says (`expect`, `snapshot`) and
//! reported (`report`). Programs in `test/` are run as well (`external`). `contract` compares what clients see of the
//! project with what was recorded, and `watch` runs affected tests again after a change.
//!
//! The command line, exit codes and signals are those of the caller: [`run()`] returns a [`Verdict`] or a [`TestError`].

#![warn(clippy::print_stderr)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod cases;
mod contract;
mod counter;
mod diff;
mod dry_run;
mod error;
mod expect;
mod external;
mod folder;
mod host;
mod options;
mod policy_case;
mod printing;
mod report;
mod result;
mod review;
mod run;
mod select;
mod server;
mod session;
mod snapshot;
mod verdict;
mod watch;

pub use error::TestError;
pub use options::{Loudness, Options};
pub use session::Surroundings;
pub use verdict::Verdict;

use mcp_bash_project::Catalog;
use printing::{print, print_report};
use report::Report;
use review::Review;
use run::{CaseReport, Status};
use session::{Selection, TestSession};

/// Runs the tests of a project and reports them on standard output.
pub fn run(
    options: &Options,
    catalog: &Catalog,
    surroundings: Surroundings<'_>,
) -> Result<Verdict, TestError> {
    let mut session = TestSession::open(catalog, surroundings)?;
    if options.contract {
        return contract::run(&session, options);
    }
    // If there is no user to ask, that is an error before anything is run.
    let review = if options.update { Some(Review::new(options.yes)?) } else { None };
    if options.watch {
        return watch::run(options, &mut session);
    }
    let selection = Selection::read(&session, options)?;
    if options.list {
        print(&select::list(&selection.cases, &selection.externals, options.json))?;
        return Ok(Verdict::Passed);
    }
    let mut report = session.run(&selection, options)?;
    if let Some(review) = review {
        record(&mut report, review)?;
    }
    print_report(&report, options)?;
    Ok(Verdict::of(!report.has_failed()))
}

/// Records the results that differ from their snapshots, as far as the review accepts them.
fn record(report: &mut Report, mut review: Review) -> Result<(), TestError> {
    for CaseReport { case, changes, status, .. } in &mut report.cases {
        let mut recorded = 0;
        for changed in &*changes {
            let title = format!("{} ({})", case.id(), changed.path.display());
            if review.accepts(&title, changed.recorded.as_deref().unwrap_or_default(), &changed.got)? {
                let written = snapshot::write(changed);
                written.map_err(|source| TestError::Write { path: changed.path.clone(), source })?;
                recorded += 1;
            }
        }
        report.recorded += recorded;
        if recorded > 0 && recorded == changes.len() {
            *status = Status::Passed;
        }
    }
    Ok(())
}
