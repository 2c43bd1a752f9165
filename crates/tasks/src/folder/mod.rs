//! Folder store: tasks as files of one folder, for the servers of one machine.
//!
//! | file | content |
//! |---|---|
//! | `ID.json` | the record, replaced atomically |
//! | `ID.lock` | locked by the process that runs the task; the kernel releases it when the process dies |
//! | `ID.request` | the params of the request, if the task may start in another process |
//! | `ID.result` | a long result |
//! | `ID.notes` | notes for the process that runs it, one per line |
//! | `queue/ID` | a marker: the task takes turns with others |
//! | `queue/gate` | locked by the process that decides whose turn it is |
//!
//! Creating and reading a task opens files by name and lists no folder, so it takes no longer with a hundred thousand tasks
//! than with one. Nothing is created before the first task.

mod place;
mod queue;
mod sweep;

use self::sweep::Sweep;
use crate::store::Durability::Durable;
use crate::{
    Claim, Durability, Entrant, Filter, Lease, Note, Status, StoreError, Swept, TaskId, TaskRecord,
    TaskStore, TurnLimits,
};
use mcp_bash_files::{Replacement, append, create_new, open_folder, open_no_link, read_all, read_all_text};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A longer result is stored in a file of its own, because the record is read and written more often.
const LONGEST_IN_RECORD: usize = 16 * 1024;

/// A longer file is not a record.
const LONGEST_RECORD: u64 = 16 * 1024 * 1024;

/// A longer file is neither a request nor a result of this program.
const LONGEST_TEXT: u64 = 1024 * 1024 * 1024;

/// The most bytes of notes for one task.
const MOST_NOTES: u64 = 16 * 1024 * 1024;

/// The mode of every file.
const MODE: u32 = 0o600;

/// The files of a task beside its record and its lock.
const PARTS: [&str; 6] = ["request", "result", "notes", "json.new", "request.new", "result.new"];

pub struct FolderStore {
    folder: PathBuf,
    /// Whether the folder is known to be private.
    is_checked: AtomicBool,
    /// How far the sweep has come.
    sweep: Mutex<Sweep>,
}

impl FolderStore {
    /// A store in `folder`. Nothing is opened or created yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, is_checked: AtomicBool::new(false), sweep: Mutex::default() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the folder if it does not exist, and refuses one that other users can access.
    pub fn prepare(&self) -> Result<(), StoreError> {
        if self.is_checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        place::make_private(&self.folder)?;
        self.is_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the folder exists; an error if it is not private.
    fn is_usable(&self) -> Result<bool, StoreError> {
        if self.is_checked.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if !place::is_private(&self.folder)? {
            return Ok(false);
        }
        self.is_checked.store(true, Ordering::Relaxed);
        Ok(true)
    }

    fn path(&self, id: &TaskId, part: &str) -> PathBuf {
        self.folder.join(format!("{id}.{part}"))
    }

    /// Opens a file of a task, if it exists.
    fn open(&self, id: &TaskId, part: &str) -> Result<Option<(PathBuf, File)>, StoreError> {
        if !self.is_usable()? {
            return Ok(None);
        }
        let path = self.path(id, part);
        match open_no_link(&path) {
            Ok(file) => Ok(Some((path, file))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Read { path, source }),
        }
    }

    fn text(&self, id: &TaskId, part: &str) -> Result<Option<String>, StoreError> {
        let Some((path, file)) = self.open(id, part)? else { return Ok(None) };
        let text = read_all_text(&file, LONGEST_TEXT);
        text.map(Some).map_err(|source| StoreError::Read { path, source })
    }

    /// Replaces a file of a task. Only the process that holds the lease does so.
    fn replace(
        &self,
        id: &TaskId,
        part: &str,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let target = self.path(id, part);
        let draft = self.path(id, &format!("{part}.new"));
        let write = || {
            let mut draft = Replacement::create_again(draft, target.clone(), MODE)?;
            draft.write(bytes)?;
            if durability == Durable {
                draft.file.sync_all()?;
            }
            draft.publish()
        };
        write().map_err(|source| StoreError::Write { path: target.clone(), source })
    }

    fn write_record(&self, record: &TaskRecord, durability: Durability) -> Result<(), StoreError> {
        let path = || self.path(&record.id, "json");
        let bytes = serde_json::to_vec(record)
            .map_err(|error| StoreError::Write { path: path(), source: io::Error::other(error) })?;
        self.replace(&record.id, "json", &bytes, durability)?;
        if durability == Durable {
            // The entry of the file in its folder must be durable as well.
            let synced = open_folder(&self.folder).and_then(|folder| folder.sync_all());
            synced.map_err(|source| StoreError::Write { path: path(), source })?;
        }
        if record.turn.is_some() && record.status.is_final() { self.unmark(&record.id) } else { Ok(()) }
    }

    /// Whether the lease of the task is free.
    fn is_free(&self, id: &TaskId) -> bool {
        matches!(self.lock(id, append), Ok(Some(_)))
    }

    /// Refuses a process whose task was claimed by another one since. The lock keeps other processes away while this one
    /// writes.
    fn check_attempt(&self, lease: &Lease) -> Result<(), StoreError> {
        // A task that was removed counts as attempt 0, which no lease has.
        let attempt = self.get(&lease.id)?.map_or(0, |known| known.attempt);
        if attempt == lease.attempt {
            return Ok(());
        }
        Err(StoreError::Stale { id: lease.id.clone(), attempt })
    }

    /// Locks a task. `None` if another process holds the lock.
    fn lock(&self, id: &TaskId, open: fn(&Path) -> io::Result<File>) -> Result<Option<File>, StoreError> {
        let path = self.path(id, "lock");
        let file = open(&path).map_err(|source| StoreError::Write { path: path.clone(), source })?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(file)),
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(StoreError::Write { path, source: error.into() }),
            }
        }
    }

    /// Locks a new task, and creates the folder if necessary. An existing lock file belongs to another task.
    fn new_lock(&self, id: &TaskId) -> Result<File, StoreError> {
        let lock = || {
            self.prepare()?;
            let lock = self.lock(id, |path| create_new(path, MODE))?;
            lock.ok_or_else(|| StoreError::Stale { id: id.clone(), attempt: 0 })
        };
        match lock() {
            Err(StoreError::Write { source, .. }) if source.kind() == ErrorKind::NotFound => {
                // The folder was removed after it was checked.
                self.is_checked.store(false, Ordering::Relaxed);
                lock()
            }
            locked => locked,
        }
    }

    /// The ids of all tasks, in no order.
    fn ids(&self) -> Result<Vec<TaskId>, StoreError> {
        if !self.is_usable()? {
            return Ok(Vec::new());
        }
        let failed = |source| StoreError::Read { path: self.folder.clone(), source };
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            ids.extend(id_of(&entry.map_err(failed)?.file_name(), "json"));
        }
        Ok(ids)
    }

    /// Removes the files of a task, the record first: without it, the others are not a task.
    fn remove_files(&self, id: &TaskId) -> Result<(), StoreError> {
        self.remove_file(id, "json")?;
        let others = PARTS.into_iter().chain(["lock"]).map(|part| self.remove_file(id, part));
        others.chain([self.unmark(id)]).fold(Ok(()), Result::and)
    }

    fn remove_file(&self, id: &TaskId, part: &str) -> Result<(), StoreError> {
        let path = self.path(id, part);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => Err(StoreError::Write { path, source }),
            _ => Ok(()),
        }
    }
}

impl TaskStore for FolderStore {
    fn place(&self) -> String {
        self.folder.display().to_string()
    }

    fn check(&self) -> Result<(), StoreError> {
        place::check(&self.folder)
    }

    fn create(&self, record: &TaskRecord, request: Option<&str>) -> Result<Lease, StoreError> {
        let id = &record.id;
        let lock = self.new_lock(id)?;
        let write = || {
            if let Some(request) = request {
                self.replace(id, "request", request.as_bytes(), Durable)?;
            }
            self.write_record(record, Durable)?;
            // After the record: a marker without one is removed.
            if record.turn.is_some() { self.make_mark(id) } else { Ok(()) }
        };
        if let Err(error) = write() {
            // On failure, for example on a full disk, no part of the task must remain.
            let _ = self.remove_files(id);
            return Err(error);
        }
        Ok(Lease::new(id.clone(), record.attempt, Box::new(lock)))
    }

    fn get(&self, id: &TaskId) -> Result<Option<TaskRecord>, StoreError> {
        let Some((path, file)) = self.open(id, "json")? else { return Ok(None) };
        let bytes = read_all(&file, LONGEST_RECORD);
        let bytes = bytes.map_err(|source| StoreError::Read { path: path.clone(), source })?;
        let broken = |problem: String| StoreError::Broken { path: path.clone(), problem };
        let record: TaskRecord = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if record.id != *id {
            return Err(broken(format!("it names the task {}", record.id)));
        }
        Ok(Some(record))
    }

    fn result(&self, record: &TaskRecord) -> Result<Option<String>, StoreError> {
        if record.has_long_result { self.text(&record.id, "result") } else { Ok(record.result.clone()) }
    }

    fn request(&self, id: &TaskId) -> Result<Option<String>, StoreError> {
        self.text(id, "request")
    }

    fn update(&self, lease: &Lease, record: &TaskRecord, durability: Durability) -> Result<(), StoreError> {
        self.check_attempt(lease)?;
        self.write_record(record, durability)
    }

    fn complete(&self, lease: &Lease, record: &mut TaskRecord, result: String) -> Result<(), StoreError> {
        self.check_attempt(lease)?;
        record.has_long_result = result.len() > LONGEST_IN_RECORD;
        if record.has_long_result {
            self.replace(&record.id, "result", result.as_bytes(), Durable)?;
        } else {
            record.result = Some(result);
        }
        record.status = Status::Completed;
        self.write_record(record, Durable)
    }

    fn begin(&self, lease: &Lease, record: &mut TaskRecord, limits: TurnLimits) -> Result<bool, StoreError> {
        self.begin_in_turn(lease, record, limits)
    }

    fn entrants(&self) -> Result<Vec<Entrant>, StoreError> {
        if self.is_usable()? { Self::entrants(self) } else { Ok(Vec::new()) }
    }

    fn claim(&self, id: &TaskId) -> Result<Claim, StoreError> {
        if self.get(id)?.is_none() {
            return Ok(Claim::Gone);
        }
        let Some(lock) = self.lock(id, append)? else { return Ok(Claim::Held) };
        // It may have ended or been removed a moment ago.
        let Some(mut record) = self.get(id)? else {
            let _ = fs::remove_file(self.path(id, "lock"));
            return Ok(Claim::Gone);
        };
        if record.status.is_final() {
            return Ok(Claim::Finished(Lease::new(id.clone(), record.attempt, Box::new(lock)), record));
        }
        record.attempt += 1;
        self.write_record(&record, Durable)?;
        Ok(Claim::Taken(Lease::new(id.clone(), record.attempt, Box::new(lock)), record))
    }

    fn post(&self, id: &TaskId, note: &Note) -> Result<(), StoreError> {
        let path = self.path(id, "notes");
        let failed = |source| StoreError::Write { path: path.clone(), source };
        let mut line = serde_json::to_vec(note).map_err(|error| failed(io::Error::other(error)))?;
        line.push(b'\n');
        let mut file = append(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length + line.len() as u64 > MOST_NOTES {
            return Err(StoreError::TooManyNotes { id: id.clone() });
        }
        // One write, so that the lines of several processes do not mix.
        file.write_all(&line).map_err(failed)?;
        // A task that was removed meanwhile has lost its record first, and its notes maybe before this one.
        if self.path(id, "json").exists() { Ok(()) } else { self.remove_file(id, "notes") }
    }

    fn notes(&self, id: &TaskId, from: u64) -> Result<(Vec<Note>, u64), StoreError> {
        let Some((path, mut file)) = self.open(id, "notes")? else { return Ok((Vec::new(), from)) };
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| read_all(&file, MOST_NOTES));
        let bytes = read.map_err(|source| StoreError::Read { path, source })?;
        // An incomplete last line is still being written, and is read next time. Lines that are not notes are skipped.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = bytes[..whole].split(|byte| *byte == b'\n');
        Ok((lines.filter_map(|line| serde_json::from_slice(line).ok()).collect(), from + whole as u64))
    }

    fn list(&self, filter: Filter<'_>, most: usize) -> Result<Vec<TaskRecord>, StoreError> {
        let mut ids = self.ids()?;
        ids.retain(|id| filter.after.is_none_or(|after| id > after));
        ids.sort_unstable();
        let readable = ids.iter().filter_map(|id| self.get(id).ok().flatten());
        Ok(readable.filter(|record| filter.wants(record)).take(most).collect())
    }

    fn sweep(&self, now_ms: u64, most: usize) -> Result<Swept, StoreError> {
        self.sweep.lock().unwrap_or_else(PoisonError::into_inner).step(self, now_ms, most)
    }

    fn remove(&self, lease: Lease) -> Result<(), StoreError> {
        self.remove_files(&lease.id)
    }
}

/// The id in the name of a file, if it is that part of a task.
fn id_of(name: &std::ffi::OsStr, part: &str) -> Option<TaskId> {
    TaskId::parse(name.to_str()?.strip_suffix(part)?.strip_suffix('.')?)
}
