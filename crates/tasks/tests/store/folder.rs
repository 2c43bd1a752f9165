//! The folder of tasks, also where others have had their hands in it.

use crate::contract::{
    Bench, at_most_one_process_runs_a_task, check_rules, no_limit_is_passed_by_many, record,
    the_planted_fault_is_found,
};
use mcp_bash_tasks::{Claim, Filter, FolderStore, Lease, Note, StoreError, TaskId, TaskStore};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder under test.
struct Folder(TempDir);

impl Folder {
    fn path(&self) -> PathBuf {
        self.0.path().join("state/tasks")
    }
}

impl Bench for Folder {
    fn open(&self) -> Box<dyn TaskStore> {
        Box::new(FolderStore::new(self.path()))
    }

    /// The kernel frees the lock of a process that dies.
    fn kill(&self, lease: Lease) {
        drop(lease);
    }

    /// The kernel never does this, and a person may.
    fn free(&self, id: &TaskId) {
        let _ = fs::remove_file(self.path().join(format!("{id}.lock")));
    }
}

fn new() -> Box<dyn Bench> {
    Box::new(Folder(tempfile::tempdir().unwrap()))
}

#[test]
fn the_folder_keeps_the_rules_of_stores() {
    check_rules(&new);
}

#[test]
fn at_most_one_server_runs_a_task() {
    at_most_one_process_runs_a_task(&new, 300);
}

#[test]
fn a_store_that_does_not_look_at_the_lock_is_found_out() {
    the_planted_fault_is_found(&new);
}

#[test]
fn many_processes_that_begin_tasks_pass_no_limit() {
    no_limit_is_passed_by_many(&*new());
}

/// A store in a folder that does not exist yet.
fn store() -> (TempDir, FolderStore) {
    let outer = tempfile::tempdir().unwrap();
    let store = FolderStore::new(outer.path().join("state/tasks"));
    (outer, store)
}

fn file(store: &FolderStore, id: &TaskId, part: &str) -> PathBuf {
    store.folder().join(format!("{id}.{part}"))
}

#[test]
fn nothing_is_made_before_the_first_task() {
    let (outer, store) = store();
    let id = TaskId::of_random([1; 16]);
    assert!(store.get(&id).unwrap().is_none() && store.list(Filter::default(), 9).unwrap().is_empty());
    assert!(matches!(store.claim(&id).unwrap(), Claim::Gone));
    assert!(store.sweep(0, 9).unwrap().is_whole);
    assert_eq!(outer.path().read_dir().unwrap().count(), 0);
    let _lease = store.create(&record(1, false), None).unwrap();
    assert_eq!(store.folder().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    for part in ["json", "lock"] {
        assert_eq!(file(&store, &id, part).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn foreign_and_unfinished_lines_are_no_notes() {
    let (_outer, store) = store();
    let made = record(1, false);
    let _lease = store.create(&made, None).unwrap();
    store.post(&made.id, &Note::Cancel).unwrap();
    let (_, position) = store.notes(&made.id, 0).unwrap();
    let path = file(&store, &made.id, "notes");
    fs::write(&path, [&fs::read(&path).unwrap()[..], b"nonsense\n\xff\n\"canc"].concat()).unwrap();
    let (notes, after) = store.notes(&made.id, position).unwrap();
    assert!(notes.is_empty() && after > position);
    fs::write(&path, [&fs::read(&path).unwrap()[..], b"el\"\n"].concat()).unwrap();
    assert_eq!(store.notes(&made.id, after).unwrap().0, [Note::Cancel]);
    let huge = Note::Answer { key: "k".to_owned(), answer: "x".repeat(17 * 1024 * 1024) };
    assert!(matches!(store.post(&made.id, &huge), Err(StoreError::TooManyNotes { .. })));
}

#[test]
fn a_note_for_a_task_that_was_removed_leaves_no_file() {
    let (_outer, store) = store();
    let made = record(1, false);
    let lease = store.create(&made, None).unwrap();
    store.remove(lease).unwrap();
    store.post(&made.id, &Note::Cancel).unwrap();
    assert_eq!(store.folder().read_dir().unwrap().count(), 0);
}

#[test]
fn what_is_not_a_record_is_refused_by_name() {
    let (outer, store) = store();
    let id = TaskId::of_random([1; 16]);
    let _lease = store.create(&record(2, false), None).unwrap();
    let path = file(&store, &id, "json");
    let other = serde_json::to_string(&record(3, false)).unwrap();
    for text in ["", "{", "[]", "\u{feff}{}", r#"{"id":"../../etc/passwd"}"#, &other] {
        fs::write(&path, text).unwrap();
        let refused = store.get(&id).unwrap_err();
        assert!(matches!(refused, StoreError::Broken { .. }), "{text}: {refused}");
        assert!(refused.to_string().contains(id.as_str()) && store.claim(&id).is_err(), "{refused}");
    }
    // A sweep leaves it for a person to look at, and does its work.
    assert_eq!(store.sweep(u64::MAX, 99).unwrap().removed, 0, "the other one is run");
    assert!(path.exists());
    fs::remove_file(&path).unwrap();
    let secret = outer.path().join("secret");
    fs::write(&secret, serde_json::to_string(&record(1, false)).unwrap()).unwrap();
    symlink(&secret, &path).unwrap();
    assert!(matches!(store.get(&id), Err(StoreError::Read { .. })), "a link is not followed");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(store.get(&id), Err(StoreError::Read { .. })), "a folder");
    for foreign in ["README", "core.json", ".json", "x.lock"] {
        fs::write(store.folder().join(foreign), "foreign").unwrap();
    }
    let listed = store.list(Filter::default(), 99).unwrap();
    assert_eq!(listed, [record(2, false)], "what cannot be read is left out");
}

#[test]
fn a_folder_that_others_can_use_is_refused() {
    let (outer, store) = store();
    fs::create_dir_all(store.folder()).unwrap();
    for mode in [0o755, 0o770, 0o702] {
        fs::set_permissions(store.folder(), fs::Permissions::from_mode(mode)).unwrap();
        let refused = store.create(&record(1, false), None).err().unwrap();
        assert!(matches!(refused, StoreError::NotPrivate { .. }), "{refused}");
        assert!(refused.to_string().contains("MCPBASH_STORE"), "{refused}");
        assert!(
            store.get(&record(1, false).id).is_err()
                && store.list(Filter::default(), 9).is_err()
                && store.check().is_err()
        );
    }
    assert_eq!(store.folder().read_dir().unwrap().count(), 0);
    let occupied = outer.path().join("file");
    fs::write(&occupied, "").unwrap();
    for path in [occupied.clone(), occupied.join("below")] {
        let store = FolderStore::new(path);
        for refused in [store.create(&record(1, false), None).err(), store.check().err()] {
            let refused = refused.unwrap().to_string();
            assert!(refused.contains("MCPBASH_STORE") && refused.contains("file"), "{refused}");
        }
    }
}

#[test]
fn half_a_task_is_not_left_behind() {
    let (_outer, store) = store();
    let first = store.create(&record(1, false), None).unwrap();
    drop(first);
    // The id is taken: nothing of the first task may change.
    assert!(store.create(&record(1, true), Some("{}")).is_err());
    assert_eq!(store.get(&record(1, false).id).unwrap(), Some(record(1, false)));
    let made = record(2, false);
    fs::create_dir(file(&store, &made.id, "json.new")).unwrap();
    assert!(store.create(&made, None).is_err());
    assert!(!file(&store, &made.id, "lock").exists() && store.get(&made.id).unwrap().is_none());
}

#[test]
fn the_folder_is_made_again_for_the_next_task() {
    let (_outer, store) = store();
    drop(store.create(&record(1, false), None).unwrap());
    fs::remove_dir_all(store.folder()).unwrap();
    assert!(store.get(&record(1, false).id).unwrap().is_none());
    drop(store.create(&record(2, false), None).unwrap());
    assert!(store.get(&record(2, false).id).unwrap().is_some());
}
