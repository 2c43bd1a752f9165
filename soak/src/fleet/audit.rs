//! Audit: what the logs of all servers must say about the requests of clients, and about the tasks that these became.

use super::journal::{self, Run};
use super::ledger::{Asked, Task, Wrong};
use super::link::lock;
use super::project::Tool;
use super::servers::{CALLER, Fleet};
use crate::audit::{self, By, Due, Line};
use crate::tally::Outcome;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// The requests of all clients by their ids, which are unique in a run.
#[derive(Debug, Default)]
pub(super) struct Requests(Mutex<HashMap<String, Request>>);

#[derive(Debug)]
struct Request {
    /// The server that had its connection, if the proxy found one.
    server: Option<usize>,
    due: Due,
    /// The word of its call.
    word: Option<String>,
}

/// What the log of one server says.
#[derive(Debug, Default)]
struct Log {
    ends: Vec<Line>,
    beginnings: Vec<Line>,
}

/// What is wrong with the logs, which have no more lines than the runs and requests explain.
struct Comparison<'a> {
    requests: &'a HashMap<String, Request>,
    logs: &'a [Log],
    by: By,
    wrong: Vec<String>,
}

impl Requests {
    /// A request of an audited method was answered, or not.
    pub(super) fn enter(&self, message: &Value, asked: &Asked) {
        if !matches!(message["method"].as_str(), Some("tools/call" | "resources/read")) {
            return;
        }
        let due = match &asked.said {
            Ok(answer) if asked.status == 200 && answer["id"] == message["id"] => {
                Due::Answered(Outcome::of(answer))
            }
            _ => Due::Unknown,
        };
        let word = message["params"]["arguments"]["word"].as_str().map(str::to_owned);
        lock(&self.0).insert(message["id"].to_string(), Request { server: asked.server, due, word });
    }
}

/// Compares the logs with the requests, the tasks and the runs of tools, after all servers have exited.
pub(super) fn judge(fleet: &Fleet) {
    let blame = |what: &str| fleet.ledger.blame(Wrong::Audit, what);
    let logs: Vec<Log> = (0..fleet.places.len())
        .map(|number| {
            let log = fleet.audit_log(number);
            if let Err(problem) = audit::verify(&fleet.binary, &log) {
                blame(&format!("server {number}: {problem}"));
            }
            let stray = |line: &Value| blame(&format!("server {number}: no start of the server of {line}"));
            Log { ends: audit::ends(&log, stray), beginnings: audit::beginnings(&log, stray) }
        })
        .collect();
    let lines: usize = logs.iter().map(|log| log.ends.len()).sum();
    fleet.ledger.note(&format!("time the audit logs have {lines} lines about ends of requests"));
    // The judge has reported a journal that cannot be read.
    let runs = journal::read(&fleet.journal()).unwrap_or_default();
    let requests = lock(&fleet.requests.0);
    let by = By::Token(CALLER.to_owned());
    for wrong in wrong_lines(&requests, &logs, by, &fleet.ledger.tasks(), &runs) {
        blame(&wrong);
    }
}

fn wrong_lines(
    requests: &HashMap<String, Request>,
    logs: &[Log],
    by: By,
    tasks: &[Task],
    runs: &HashMap<String, Vec<Run>>,
) -> Vec<String> {
    let mut comparison = Comparison { requests, logs, by, wrong: Vec::new() };
    comparison.look_at_ends(tasks);
    comparison.look_at_runs(runs);
    comparison.wrong
}

impl Comparison<'_> {
    fn look_at_ends(&mut self, tasks: &[Task]) {
        let mut found = HashMap::<&str, Vec<(usize, &Line)>>::new();
        for (server, log) in self.logs.iter().enumerate() {
            for line in &log.ends {
                found.entry(&line.id).or_default().push((server, line));
                if !self.by.fits(line) {
                    self.wrong.push(format!("server {server} names another caller: {line:?}"));
                }
            }
        }
        for (id, request) in self.requests {
            let lines = found.remove(&**id).unwrap_or_default();
            if let Err(why) = request.compare(&lines) {
                self.wrong.push(format!("request {id}: {why}: {request:?} {lines:?}"));
            }
        }
        for task in tasks {
            let lines =
                found.get(&*Value::from(&*task.id).to_string()).map(Vec::as_slice).unwrap_or_default();
            if let Err(why) = compare_task(task, lines) {
                self.wrong.push(format!("{}: {why}: {lines:?}", task.word));
            }
        }
        // The others are calls that tasks have made.
        let words: HashSet<&str> =
            self.requests.values().filter_map(|request| request.word.as_deref()).collect();
        let is_of_task = |line: &Line| {
            let word = line.word.as_deref().filter(|word| words.contains(word));
            word.and_then(Tool::of_word).is_some_and(|(_, is_task)| is_task)
        };
        let strange = found.into_values().flatten().filter(|(_, line)| !is_of_task(line));
        self.wrong.extend(strange.map(|line| format!("no client has made this request: {line:?}")));
    }

    /// A tool starts when the line of the beginning of its call is on the disk.
    fn look_at_runs(&mut self, runs: &HashMap<String, Vec<Run>>) {
        let begun = |log: &Log| log.beginnings.iter().filter_map(|line| line.word.clone()).collect();
        let begun: Vec<HashSet<String>> = self.logs.iter().map(begun).collect();
        for (word, runs) in runs {
            for run in runs {
                if !begun.get(run.server).is_some_and(|words| words.contains(word)) {
                    self.wrong.push(format!(
                        "server {} has run {word} and has no line of its beginning",
                        run.server
                    ));
                }
            }
        }
    }
}

impl Request {
    fn compare(&self, lines: &[(usize, &Line)]) -> Result<(), &'static str> {
        match lines {
            [] if self.due == Due::Unknown => Ok(()),
            [] => Err("it was answered, and has no line"),
            [(server, line)] => {
                if !self.due.fits(&line.outcome) {
                    Err("the line has another outcome")
                } else if self.server.is_some_and(|own| own != *server) {
                    Err("the line is in the log of another server")
                } else if line.word != self.word {
                    Err("the line is about another call")
                } else {
                    Ok(())
                }
            }
            _ => Err("it has several lines"),
        }
    }
}

/// Compares a task with the lines of its calls. One that must not run twice has one at most.
fn compare_task(task: &Task, lines: &[(usize, &Line)]) -> Result<(), &'static str> {
    let is_completed = task.is_lasting && task.end.as_ref().is_some_and(|end| end["status"] == "completed");
    if is_completed && !lines.iter().any(|(_, line)| line.outcome == "success") {
        return Err("the task is completed, and no line says so");
    }
    if !task.tool.is_repeatable() && lines.len() > 1 {
        return Err("the task must not run twice, and has several lines");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Instant;

    fn line(id: &str, word: &str) -> Line {
        let [outcome, caller, known_by] = ["success", "fleet", "token"].map(str::to_owned);
        Line { pid: 7, id: format!("\"{id}\""), outcome, caller, known_by, word: Some(word.to_owned()) }
    }

    /// The number of what is wrong with the ends in the logs of two servers, after an answered call at server 0, an unanswered call,
    /// and a call that became a task and is completed.
    fn wrong(logs: [&[Line]; 2]) -> usize {
        let request = |server, due, word: &str| Request { server, due, word: Some(word.to_owned()) };
        let answered = Due::Answered(Outcome::Result);
        let requests = HashMap::from([
            ("\"a\"".to_owned(), request(Some(0), answered, "works-call-1-1")),
            ("\"b\"".to_owned(), request(None, Due::Unknown, "works-call-1-2")),
            ("\"c\"".to_owned(), request(Some(1), answered, "works-task-1-3")),
        ]);
        let task = Task {
            id: "t".to_owned(),
            word: "works-task-1-3".to_owned(),
            tool: Tool::Works,
            created: Instant::now(),
            is_cancelled: false,
            end: Some(json!({ "status": "completed" })),
            is_lasting: true,
        };
        let logs = logs.map(|lines| Log { ends: lines.to_vec(), beginnings: Vec::new() });
        wrong_lines(&requests, &logs, By::Token("fleet".to_owned()), &[task], &HashMap::new()).len()
    }

    #[test]
    fn lines_that_are_missing_doubled_or_invented_are_found() {
        let call = || line("a", "works-call-1-1");
        let (maker, run) = (|| line("c", "works-task-1-3"), || line("t", "works-task-1-3"));
        let cut_off = || line("b", "works-call-1-2");
        assert_eq!(wrong([&[call()], &[maker(), run()]]), 0);
        assert_eq!(wrong([&[call(), run()], &[cut_off(), maker()]]), 0);
        assert_eq!(wrong([&[], &[maker(), run()]]), 1, "a line is missing");
        assert_eq!(wrong([&[call(), call()], &[maker(), run()]]), 1, "a line is doubled");
        assert_eq!(wrong([&[cut_off(), call()], &[cut_off(), maker(), run()]]), 1, "two servers have it");
        assert_eq!(wrong([&[], &[call(), maker(), run()]]), 1, "another server has it");
        assert_eq!(wrong([&[call()], &[maker()]]), 1, "the run of the task is missing");
        assert_eq!(wrong([&[call(), run()], &[maker(), run()]]), 1, "the run of the task is doubled");
        assert_eq!(wrong([&[call(), line("d", "works-call-1-9")], &[maker(), run()]]), 1, "it is invented");
        assert_eq!(
            wrong([&[call(), line("d", "works-call-1-1")], &[maker(), run()]]),
            1,
            "it has another id"
        );
        let failed = Line { outcome: "failure".to_owned(), ..call() };
        assert_eq!(wrong([&[failed], &[maker(), run()]]), 1, "it has another outcome");
        let stolen = Line { caller: "other".to_owned(), ..call() };
        assert_eq!(wrong([&[stolen], &[maker(), run()]]), 1, "it has another caller");
    }
}
