//! Queue of a folder store: a marker file for each task that takes turns, in a folder of its own, so that the number of other
//! tasks does not matter. The record of a task holds everything else.

use super::FolderStore;
use crate::store::Durability::Durable;
use crate::turns::{Entrant, TurnLimits, may_begin};
use crate::{Lease, StoreError, TaskId, TaskRecord, TaskStore as _, Turn};
use mcp_bash_files::append;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

const QUEUE: &str = "queue";

/// The lock file of the process that decides whose turn it is.
const GATE: &str = "gate";

/// How often a process tries to lock the gate, and the pause between two tries. If the process that holds the lock is frozen,
/// others wait no longer than that.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

impl FolderStore {
    fn queue(&self) -> PathBuf {
        self.folder.join(QUEUE)
    }

    fn mark(&self, id: &TaskId) -> PathBuf {
        self.queue().join(id.as_str())
    }

    /// Removes the marker: the task takes turns no longer.
    pub(super) fn unmark(&self, id: &TaskId) -> Result<(), StoreError> {
        let path = self.mark(id);
        match fs::remove_file(&path) {
            Err(source) if !matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(StoreError::Write { path, source })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn begin_in_turn(
        &self,
        lease: &Lease,
        record: &mut TaskRecord,
        limits: TurnLimits,
    ) -> Result<bool, StoreError> {
        self.check_attempt(lease)?;
        self.make_mark(&lease.id)?;
        let Some(_gate) = self.lock_gate()? else { return Ok(false) };
        let others = self.entrants()?;
        let may = Entrant::of(record).is_some_and(|task| may_begin(&task, &others, limits));
        if may && let Some(turn) = &mut record.turn {
            turn.waits = false;
            if let Err(error) = self.write_record(record, Durable) {
                // It still waits.
                record.turn = record.turn.map(|turn| Turn { waits: true, ..turn });
                return Err(error);
            }
            if !record.repeatable {
                // The task is never started again.
                self.remove_file(&record.id, "request")?;
            }
        }
        Ok(may)
    }

    /// The tasks that wait or run in a live process. The markers of others are removed: the server that claims such a task
    /// makes its marker again.
    pub(super) fn entrants(&self) -> Result<Vec<Entrant>, StoreError> {
        let failed = |source| StoreError::Read { path: self.queue(), source };
        let entries = match fs::read_dir(self.queue()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut entrants = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let Some(id) = name.to_str().and_then(TaskId::parse) else { continue };
            // A record that cannot be read is left for inspection, and blocks no other task.
            let Ok(record) = self.get(&id) else { continue };
            match record.as_ref().and_then(Entrant::of).filter(|_| !self.is_free(&id)) {
                Some(entrant) => entrants.push(entrant),
                None => drop(self.unmark(&id)),
            }
        }
        Ok(entrants)
    }

    pub(super) fn make_mark(&self, id: &TaskId) -> Result<(), StoreError> {
        let path = self.mark(id);
        let made = match append(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let made = DirBuilder::new().mode(0o700).create(self.queue());
                made.or_else(|error| match error.kind() {
                    ErrorKind::AlreadyExists => Ok(()),
                    _ => Err(error),
                })
                .and_then(|()| append(&path))
            }
            made => made,
        };
        made.map(drop).map_err(|source| StoreError::Write { path, source })
    }

    /// Locks the gate. `None` if another process holds the lock for too long.
    fn lock_gate(&self) -> Result<Option<File>, StoreError> {
        let path = self.queue().join(GATE);
        let failed = |source: io::Error| StoreError::Write { path: path.clone(), source };
        let gate = append(&path).map_err(failed)?;
        for _ in 0..TRIES {
            match flock(&gate, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(gate)),
                Err(rustix::io::Errno::WOULDBLOCK) => sleep(PAUSE),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Ok(None)
    }
}
