//! Runs of tools that should not have been, as the journal shows them.

use super::faults::{FaultLog, Kind};
use super::journal::Run;
use super::ledger::Wrong;
use super::project::Tool;
use std::collections::HashMap;
use std::time::Duration;

/// A script ends this long after its task was given to another server.
const STOPPING: Duration = Duration::from_secs(2);

/// What is wrong with the runs of each call, which are found by its word.
pub(super) fn wrong_runs(runs: &HashMap<String, Vec<Run>>, faults: &FaultLog) -> Vec<(Wrong, String)> {
    let mut wrong = Vec::new();
    for (word, runs) in runs {
        let Some((tool, is_task)) = Tool::of_word(word) else {
            wrong.push((Wrong::NoRun, format!("no call has the word {word}")));
            continue;
        };
        // A call asks in one run and goes on in another.
        let most = if tool == Tool::Asks && !is_task { 2 } else { 1 };
        let may_run_again = is_task && tool.is_repeatable();
        if runs.len() > most && !may_run_again {
            wrong.push((Wrong::RanTwice, format!("{word}: {runs:?}")));
        }
        for pair in runs.windows(2).filter(|_| may_run_again) {
            let [first, second] = pair else { continue };
            let had = |until, is_cause: fn(Kind) -> bool| {
                faults.had(Some(first.server), (first.start, until), is_cause)
            };
            if !had(second.start, may_cost_a_run) {
                wrong.push((Wrong::RanAgain, format!("{word}: {runs:?}")));
            }
            // A frozen server cannot stop its scripts.
            if first.last > second.start + STOPPING && !had(first.last, |kind| kind == Kind::Freeze) {
                wrong.push((Wrong::Overran, format!("{word}: {runs:?}")));
            }
        }
    }
    wrong
}

fn may_cost_a_run(kind: Kind) -> bool {
    kind.ends_server() || kind == Kind::Freeze || kind.keeps_database_away()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// The kinds of what is wrong with runs of a call, each from one second to another, at servers 0, 1 and so on.
    fn found(word: &str, runs: &[(u64, u64)], faults: &FaultLog) -> Vec<Wrong> {
        let begun = Instant::now();
        let time = |seconds| begun + Duration::from_secs(seconds);
        let runs = runs.iter().enumerate().map(|(server, &(from, to))| {
            let (start, last) = (time(from), time(to));
            Run { server, process: 1, start, last, has_ended: true }
        });
        let runs = HashMap::from([(word.to_owned(), runs.collect())]);
        wrong_runs(&runs, faults).into_iter().map(|(wrong, _)| wrong).collect()
    }

    #[test]
    fn planted_runs_are_found() {
        let (calm, killed) = (FaultLog::default(), FaultLog::default());
        killed.begin(Kind::Kill, Some(0));
        let none: [Wrong; 0] = [];
        let twice = [(0, 1), (40, 41)];
        for word in ["works-task-1-1", "works-call-1-1", "again-call-1-1", "asks_once-task-1-1"] {
            assert_eq!(found(word, &twice, &killed), [Wrong::RanTwice], "{word}");
            assert_eq!(found(word, &twice[..1], &killed), none, "{word}");
        }
        assert_eq!(found("asks-call-1-1", &twice, &calm), none, "it was asked and went on");
        assert_eq!(found("asks-call-1-1", &[(0, 1), (2, 3), (4, 5)], &calm), [Wrong::RanTwice]);
        assert_eq!(found("again-task-1-1", &twice, &calm), [Wrong::RanAgain]);
        assert_eq!(found("again-task-1-1", &twice, &killed), none);
        assert_eq!(found("again-task-1-1", &[(0, 50), (40, 41)], &killed), [Wrong::Overran]);
        let frozen = FaultLog::default();
        frozen.begin(Kind::Freeze, Some(0));
        assert_eq!(found("again-task-1-1", &[(0, 50), (40, 41)], &frozen), none);
        assert_eq!(found("unheard-of", &twice, &calm), [Wrong::NoRun]);
    }
}
