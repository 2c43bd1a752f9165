use super::*;
use crate::reading::{Verified, verify};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const ROTATION: Rotation = Rotation { max_bytes: 1 << 20, max_age: None, keep: 3 };

fn members(text: &str) -> String {
    let mut record = Record::new(Event::ToolCall, SystemTime::now());
    record.text("gen_ai.tool.name", text);
    record.into_members()
}

fn verified(log: &Path) -> Verified {
    verify(&rotation::files_of(log), None).unwrap()
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_chain_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("new/audit.jsonl");
    for start in 0..3 {
        let mut file = AuditFile::new(log.clone(), ROTATION);
        for line in 0..3 {
            file.append(&members(&format!("{start}-{line}"))).unwrap();
        }
    }
    let verified = verified(&log);
    assert_eq!((verified.records, verified.findings.len()), (9, 0), "{verified:?}");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&log), mode(log.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn two_writers_share_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let rotation = Rotation { max_bytes: 20_000, keep: 50, ..ROTATION };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let mut file = AuditFile::new(log.clone(), rotation);
            scope.spawn(move || {
                for line in 0..200 {
                    file.append(&members(&format!("{writer}-{line}"))).unwrap();
                }
            });
        }
    });
    let verified = verified(&log);
    assert!(verified.findings.is_empty(), "{verified:?}");
    let files = rotation::files_of(&log);
    assert!(files.len() > 3, "it was rotated");
    let all: String = files.iter().map(|file| text(file)).collect();
    for writer in 0..4 {
        for line in 0..200 {
            let name = format!("\"{writer}-{line}\"");
            assert_eq!(all.matches(&name).count(), 1, "{name}");
        }
    }
}

#[test]
fn a_torn_line_is_recorded_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    AuditFile::new(log.clone(), ROTATION).append(&members("whole")).unwrap();
    let whole = text(&log);
    for torn in ["{", "{\"seq\":2,\"prev\":\"00", "\0\0\0\0", "{\"seq\":2}\n", "a\nb\n\nc"] {
        std::fs::write(&log, format!("{whole}{torn}")).unwrap();
        AuditFile::new(log.clone(), ROTATION).append(&members("after")).unwrap();
        let verified = verified(&log);
        assert!(verified.findings.is_empty(), "{torn:?} {verified:?}");
        assert_eq!((verified.records, verified.torn), (3, 1), "{torn:?}");
    }
    // Not even the first line is whole.
    std::fs::write(&log, "{\"se").unwrap();
    AuditFile::new(log.clone(), ROTATION).append(&members("after")).unwrap();
    assert!(verified(&log).findings.is_empty());
}

#[test]
fn files_are_rotated_by_size_and_age_and_the_oldest_removed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let mut file = AuditFile::new(log.clone(), Rotation { max_bytes: 700, ..ROTATION });
    for line in 0..20 {
        file.append(&members(&line.to_string())).unwrap();
    }
    let files = rotation::files_of(&log);
    assert_eq!(files.len(), 4, "{files:?}");
    let verified_all = verified(&log);
    assert!(verified_all.findings.is_empty(), "{verified_all:?}");
    assert!(verified_all.first > Some(1));
    assert!(text(&log).contains(r#""audit.previous_file":"audit.jsonl.1""#));
    let aged = Rotation { max_age: Some(Duration::ZERO), ..ROTATION };
    let mut file = AuditFile::new(log.clone(), aged);
    file.append(&members("new")).unwrap();
    assert_eq!(text(&log).lines().count(), 2, "a new file with its first line and this one");
    assert!(verified(&log).findings.is_empty());
}

#[test]
fn a_file_that_another_program_renames_truncates_or_removes_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let mut file = AuditFile::new(log.clone(), ROTATION);
    let mut other = AuditFile::new(log.clone(), ROTATION);
    file.append(&members("1")).unwrap();
    other.append(&members("2")).unwrap();
    let moved = folder.path().join("audit.jsonl-20260101");
    std::fs::rename(&log, &moved).unwrap();
    file.append(&members("3")).unwrap();
    other.append(&members("4")).unwrap();
    let whole = verify(&[moved.clone(), log.clone()], None).unwrap();
    assert!(whole.findings.is_empty(), "{whole:?}");
    // The same for a server that starts after it.
    let second = folder.path().join("audit.jsonl-20260102");
    std::fs::rename(&log, &second).unwrap();
    AuditFile::new(log.clone(), ROTATION).append(&members("5")).unwrap();
    let whole = verify(&[moved, second.clone(), log.clone()], None).unwrap();
    assert!(whole.findings.is_empty(), "{whole:?}");
    // Copied, then truncated.
    file.append(&members("6")).unwrap();
    let third = folder.path().join("audit.jsonl-20260103");
    std::fs::copy(&log, &third).unwrap();
    std::fs::write(&log, "").unwrap();
    file.append(&members("7")).unwrap();
    let whole = verify(&[second, third, log], None).unwrap();
    assert!(whole.findings.is_empty(), "{whole:?}");
}

#[test]
fn a_file_that_is_no_audit_log_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("notes.txt");
    std::fs::write(&log, "my notes\n").unwrap();
    let refused = AuditFile::new(log.clone(), ROTATION).append(&members("x")).unwrap_err();
    assert!(matches!(refused, AuditError::NotAnAuditLog { .. }), "{refused}");
    assert_eq!(text(&log), "my notes\n");
    let refused = AuditFile::new(folder.path().to_owned(), ROTATION).append(&members("x")).unwrap_err();
    assert!(matches!(refused, AuditError::Open { .. }), "{refused}");
}
