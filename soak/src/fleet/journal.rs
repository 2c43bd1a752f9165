//! Journal: what the tools wrote of their runs, by the words of their calls.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// One run of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) server: usize,
    pub(super) process: u32,
    pub(super) start: Instant,
    /// When it was last heard of.
    pub(super) last: Instant,
    pub(super) has_ended: bool,
}

/// The runs for each word, in the order in which they began.
pub(super) fn read(file: &Path) -> Result<HashMap<String, Vec<Run>>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut runs = HashMap::<String, Vec<Run>>::new();
    let now = (Instant::now(), SystemTime::now());
    for line in text.lines() {
        enter(&mut runs, line, now).ok_or_else(|| format!("not a line of a tool: {line:?}"))?;
    }
    Ok(runs)
}

fn enter(runs: &mut HashMap<String, Vec<Run>>, line: &str, now: (Instant, SystemTime)) -> Option<()> {
    let [event, word, server, process, time] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
    let (server, process) = (server.parse().ok()?, process.parse().ok()?);
    let written = SystemTime::UNIX_EPOCH + Duration::from_micros(time.parse().ok()?);
    let time = now.0.checked_sub(now.1.duration_since(written).unwrap_or_default())?;
    let own = runs.entry(word.to_owned()).or_default();
    if event == "start" {
        own.push(Run { server, process, start: time, last: time, has_ended: false });
        return Some(());
    }
    let run = own.iter_mut().rev().find(|run| run.process == process)?;
    run.last = time;
    run.has_ended = event == "end";
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_apart_by_their_processes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = "start a 0 7 1000000\nstart b 1 9 1000000\nbeat a 0 7 1200000\nstart a 2 8 1300000\nend a 0 7 1400000\n";
        std::fs::write(file.path(), lines).unwrap();
        let runs = read(file.path()).unwrap();
        let [first, second] = &runs["a"][..] else { panic!("{runs:?}") };
        assert!(first.has_ended && !second.has_ended && first.last > second.start);
        assert_eq!((second.server, runs["b"].len()), (2, 1));
        std::fs::write(file.path(), "start a\n").unwrap();
        assert!(read(file.path()).unwrap_err().contains("start a"));
    }
}
