//! `validate --fix`: shows the fixes it would make, asks the user if there is one, and makes them.

use super::confirmed;
use crate::base::error::Error;
use crate::open::examination::Examination;
use crate::report::finding::{Grade, shortened};
use crate::report::text::mark;
use crate::terminal::print::print;
use mcp_bash_project::Step;
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::Path;

/// A fix can uncover another problem, such as line ends after a byte order mark. So the project is checked again this many
/// times.
const ROUNDS: usize = 4;

/// A fix, and its result.
pub(super) struct Fix {
    step: Step,
    outcome: Outcome,
}

enum Outcome {
    Applied,
    /// It was only shown, or was declined.
    Shown,
    Failed(String),
}

pub(super) struct Fixing<'a> {
    pub(super) root: &'a Path,
    pub(super) terminal: Terminal,
    pub(super) dry_run: bool,
    pub(super) asks: bool,
    /// Whether nothing is printed on the way, because a program reads the report.
    pub(super) is_silent: bool,
}

impl Fixing<'_> {
    /// Makes the possible fixes. `examined` holds the findings before, and is replaced by those after.
    pub(super) fn run(
        &self,
        examined: &mut Examination,
        again: impl Fn() -> Result<Examination, Error>,
    ) -> Result<Vec<Fix>, Error> {
        let (mut fixes, mut tried) = (Vec::new(), HashSet::new());
        for _ in 0..ROUNDS {
            let steps: BTreeSet<Step> = examined
                .found
                .iter()
                .filter_map(|finding| finding.repair.as_ref())
                .flat_map(|repair| repair.steps().iter().cloned())
                .filter(|step| !tried.contains(step))
                .collect();
            if steps.is_empty() {
                break;
            }
            tried.extend(steps.iter().cloned());
            let round = self.round(steps)?;
            let has_changed = round.iter().any(Fix::is_applied);
            fixes.extend(round);
            if !has_changed {
                break;
            }
            *examined = again()?;
        }
        if fixes.is_empty() && !self.is_silent {
            print("There is nothing that could be repaired safely.\n\n")?;
        }
        Ok(fixes)
    }

    fn round(&self, steps: BTreeSet<Step>) -> Result<Vec<Fix>, Error> {
        let mut fixes: Vec<Fix> = steps
            .into_iter()
            .map(|step| {
                let outcome = step.obstacle(self.root).map_or(Outcome::Shown, Outcome::Failed);
                Fix { step, outcome }
            })
            .collect();
        self.show(&fixes)?;
        let is_possible = fixes.iter().any(|fix| matches!(fix.outcome, Outcome::Shown));
        let is_declined = || -> Result<bool, Error> { Ok(self.asks && !confirmed("Repair these?")?) };
        if self.dry_run || !is_possible || is_declined()? {
            return Ok(fixes);
        }
        let mut text = String::new();
        for fix in fixes.iter_mut().filter(|fix| matches!(fix.outcome, Outcome::Shown)) {
            fix.outcome = fix.step.apply(self.root).map_or_else(Outcome::Failed, |()| Outcome::Applied);
            let path = self.path(fix);
            let _ = match &fix.outcome {
                Outcome::Failed(why) => {
                    let mark = mark(Grade::Error, self.terminal);
                    writeln!(text, "{mark} {path} - not fixed: {}", visible(why))
                }
                _ => {
                    writeln!(text, "{} {path} - fixed: {}", mark(Grade::Good, self.terminal), fix.step.done())
                }
            };
        }
        if !self.is_silent {
            print(&format!("{text}\n"))?;
        }
        Ok(fixes)
    }

    /// Shows what would be done, and what cannot be.
    fn show(&self, fixes: &[Fix]) -> Result<(), Error> {
        if self.is_silent {
            return Ok(());
        }
        let mut text = String::from(if self.dry_run { "Would repair:\n" } else { "Repairs:\n" });
        for fix in fixes {
            let path = self.path(fix);
            let _ = match &fix.outcome {
                Outcome::Failed(why) => writeln!(text, "  {path} - is left as it is: {}", visible(why)),
                _ => writeln!(text, "  {path} - {}", fix.step),
            };
        }
        print(&format!("{text}\n"))
    }

    fn path(&self, fix: &Fix) -> String {
        if fix.step.path == self.root {
            ".".to_owned()
        } else {
            visible(&shortened(&fix.step.path, Some(self.root)))
        }
    }
}

impl Fix {
    pub(super) fn is_applied(&self) -> bool {
        matches!(self.outcome, Outcome::Applied)
    }

    pub(super) fn is_only_shown(&self) -> bool {
        matches!(self.outcome, Outcome::Shown)
    }

    pub(super) fn to_json(&self) -> Value {
        let problem = match &self.outcome {
            Outcome::Failed(why) => Some(why),
            Outcome::Applied | Outcome::Shown => None,
        };
        json!({
            "file": self.step.path.to_string_lossy(),
            "fix": self.step.to_string(),
            "applied": self.is_applied(),
            "problem": problem,
        })
    }
}
