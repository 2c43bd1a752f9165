use super::*;
use crate::reading::verify;
use std::path::Path;

fn trail(log: &Path, on_error: OnError) -> Arc<Trail> {
    let rotation = Rotation { max_bytes: 1 << 20, max_age: None, keep: 3 };
    let options = Options { destination: Destination::File(log.to_owned()), rotation, on_error };
    Trail::new(options, None, Record::new(Event::ServerStart, SystemTime::now()))
}

fn record(name: &str) -> Record {
    let mut record = Record::new(Event::ToolCall, SystemTime::now());
    record.text("gen_ai.tool.name", name);
    record
}

#[test]
fn nothing_is_opened_before_the_first_record() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let trail = trail(&log, OnError::Refuse);
    trail.close(|| Record::new(Event::ServerEnd, SystemTime::now()));
    assert!(!log.exists());
    trail.append(record("a")).unwrap();
    trail.close(|| Record::new(Event::ServerEnd, SystemTime::now()));
    let text = std::fs::read_to_string(&log).unwrap();
    let names: Vec<bool> = text
        .lines()
        .zip(["mcp.server.start", "mcp.tools.call", "mcp.server.end"])
        .map(|(line, name)| line.contains(name))
        .collect();
    assert_eq!(names, [true; 3], "{text}");
}

#[test]
fn records_are_kept_until_they_can_be_written_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    std::fs::create_dir(&log).unwrap();
    let trail = trail(&log, OnError::Refuse);
    let changes = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&changes);
    trail.on_change(move |why| noted.lock().push(why.is_some()));
    let why = trail.refusal().unwrap().to_string();
    assert!(why.contains("log cannot be opened"), "{why}");
    for number in 0..MOST_PENDING + 5 {
        assert!(trail.append(record(&format!("n{number}"))).is_err());
    }
    assert_eq!((trail.counts().lost, trail.counts().is_broken), (5, true));
    assert!(trail.refusal().is_some());
    std::fs::remove_dir(&log).unwrap();
    assert!(trail.refusal().is_none());
    let counts = trail.counts();
    // The start, those that were kept, and the number of those that were not.
    assert_eq!((counts.written, counts.is_broken), (MOST_PENDING as u64 + 2, false));
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.lines().last().unwrap().contains(r#""audit.lost_records":5"#), "{text}");
    assert!(verify(&[log], None).unwrap().findings.is_empty());
    assert_eq!(*changes.lock(), [true, false]);
}

#[test]
fn calls_go_on_where_they_are_to() {
    let folder = tempfile::tempdir().unwrap();
    let trail = trail(folder.path(), OnError::Continue);
    assert!(trail.append(record("a")).is_err());
    assert!(trail.refusal().is_none());
    assert!(trail.problem().is_some());
}

#[test]
fn a_durable_record_is_in_the_file_before_its_answer_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let trail = trail(&log, OnError::Refuse);
    let (sender, receiver) = std::sync::mpsc::channel();
    for name in ["a", "b", "c"] {
        let (sender, log) = (sender.clone(), log.clone());
        trail.append_durably(record(name), move |written| {
            let text = std::fs::read_to_string(&log).unwrap();
            sender.send((name, written.is_ok() && text.contains(&format!("\"{name}\"")))).unwrap();
        });
    }
    trail.flush();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [("a", true), ("b", true), ("c", true)]);
}

#[test]
fn ids_of_events_are_unique() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (trail(folder.path(), OnError::Refuse), trail(folder.path(), OnError::Refuse));
    let ids = [one.event_id(), one.event_id(), other.event_id(), other.event_id()];
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 4, "{ids:?}");
}
