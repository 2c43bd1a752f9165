//! Sweep: removes expired tasks, a bounded number of files at a time.

use super::{FolderStore, id_of};
use crate::{Claim, StoreError, Swept, TaskStore as _};
use mcp_bash_files::append;
use std::fs::{self, ReadDir};
use std::time::{Duration, SystemTime};

/// A lock without a record belongs to a task that is being created, or whose server died while creating it. After this time,
/// the latter is assumed.
const LOST: Duration = Duration::from_secs(60 * 60);

/// Iterates over the folder of a store, and starts again at its end.
#[derive(Default)]
pub(super) struct Sweep {
    entries: Option<ReadDir>,
}

impl Sweep {
    /// Examines the next `most` files. Tasks that another process runs are left to it.
    pub(super) fn step(
        &mut self,
        store: &FolderStore,
        now_ms: u64,
        most: usize,
    ) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        let entries = match &mut self.entries {
            Some(entries) => entries,
            None if !store.is_usable()? => return Ok(Swept { is_whole: true, ..swept }),
            none => {
                let failed = |source| StoreError::Read { path: store.folder.clone(), source };
                none.insert(fs::read_dir(&store.folder).map_err(failed)?)
            }
        };
        for _ in 0..most {
            let Some(Ok(entry)) = entries.next() else {
                self.entries = None;
                swept.is_whole = true;
                break;
            };
            let name = entry.file_name();
            if let Some(id) = id_of(&name, "json") {
                // A record that cannot be read is left for inspection.
                let Ok(Some(record)) = store.get(&id) else { continue };
                let is_expired = record.is_expired(now_ms);
                if !is_expired && record.status.is_final() {
                    continue;
                }
                match is_expired.then(|| store.claim(&id)) {
                    Some(Ok(Claim::Taken(lease, _) | Claim::Finished(lease, _))) => {
                        store.remove(lease)?;
                        swept.removed += 1;
                    }
                    Some(_) => {}
                    None => swept.abandoned.extend(store.is_free(&id).then_some(id)),
                }
            } else if let Some(id) = id_of(&name, "lock")
                && !store.path(&id, "json").exists()
                && entry.metadata().is_ok_and(|found| is_old(found.modified().ok()))
                && matches!(store.lock(&id, append), Ok(Some(_)))
            {
                store.remove_files(&id)?;
            }
        }
        Ok(swept)
    }
}

fn is_old(modified: Option<SystemTime>) -> bool {
    modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > LOST)
}
