//! Queue of a folder store: a mark for each task that takes turns, in a folder of its own, so that finding them takes no longer
//! if many other tasks are kept. All that is known of a task is in its record.

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

/// The lock of the process that decides whose turn it is.
const GATE: &str = "gate";

/// How often, and after which pause, a process tries to pass the gate. One that is frozen inside stops nobody for longer.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

impl FolderStore {
    fn queue(&self) -> PathBuf {
        self.folder.join(QUEUE)
    }

    fn mark(&self, id: &TaskId) -> PathBuf {
        self.queue().join(id.as_str())
    }

    /// The task takes turns no more.
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
        let Some(_gate) = self.pass_gate()? else { return Ok(false) };
        let others = self.entrants()?;
        let may = Entrant::of(record).is_some_and(|task| may_begin(&task, &others, limits));
        if may && let Some(turn) = &mut record.turn {
            turn.waits = false;
            if let Err(error) = self.write_record(record, Durable) {
                // It waits on.
                record.turn = record.turn.map(|turn| Turn { waits: true, ..turn });
                return Err(error);
            }
            if !record.repeatable {
                // Nobody begins it again.
                self.remove_file(&record.id, "request")?;
            }
        }
        Ok(may)
    }

    /// The tasks that wait or run in a living process. The marks of others are removed: the server that claims such a
    /// task makes its mark again.
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
            // A record that cannot be read is left for a person to look at, and holds nobody up.
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

    /// `None` if another process does not leave the gate in time.
    fn pass_gate(&self) -> Result<Option<File>, StoreError> {
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
