//! Vandal: removes folders and edits files while the server runs. It removes temporary folders as a tool with
//! `rm -rf "$TMPDIR"/*` or a cleaner does, and edits the project as its author does. The server has to recover.

use super::account::Account;
use super::project::{File, Project};
use crate::random::Random;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;

/// How often something was removed that a running call may need.
#[derive(Debug, Default)]
pub(super) struct Damage(AtomicU64);

impl Damage {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn note(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

pub(super) struct Vandal<'a> {
    pub(super) project: &'a Project,
    pub(super) temporary: &'a Path,
    pub(super) damage: &'a Damage,
    pub(super) account: &'a Account,
    pub(super) random: Random,
}

#[derive(Debug, Clone, Copy)]
enum Act {
    RemoveTemporary,
    RemoveInside,
    Edit,
    Break,
    WriteHalf,
    RemoveFolder,
}

const ACTS: [(u64, Act); 6] = [
    (2, Act::RemoveTemporary),
    (3, Act::RemoveInside),
    (4, Act::Edit),
    (2, Act::Break),
    (2, Act::WriteHalf),
    (2, Act::RemoveFolder),
];

impl Vandal<'_> {
    /// Runs until the end, and then restores the project.
    pub(super) fn rage(mut self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Acquire) {
            sleep(self.random.millis(50, 400));
            let act = self.random.weighted(&ACTS);
            // A folder that is missing, or just being created, cannot be removed.
            let _ = self.act(act);
        }
        if let Err(error) = self.project.restore() {
            self.account.blame(format!("the project cannot be written again: {error}"));
        }
    }

    fn act(&mut self, act: Act) -> std::io::Result<()> {
        let file: &File = self.random.pick(&self.project.files);
        match act {
            Act::RemoveTemporary => {
                self.account.note("private folders removed");
                for folder in entries(self.temporary) {
                    self.remove(&folder);
                }
                Ok(())
            }
            Act::RemoveInside => {
                let mut place = self.temporary.to_owned();
                for _ in 0..self.random.between(2, 4) {
                    let inside = entries(&place);
                    if inside.is_empty() {
                        break;
                    }
                    place.clone_from(self.random.pick(&inside));
                }
                if place != self.temporary {
                    self.account.note("temporary files and folders removed");
                    self.remove(&place);
                }
                Ok(())
            }
            Act::Edit => {
                self.account.note("files edited");
                file.edit(self.random.below(1_000_000))
            }
            Act::Break => {
                self.account.note("files broken for a while");
                file.break_it()?;
                sleep(self.random.millis(0, 300));
                file.restore()
            }
            Act::WriteHalf => {
                self.account.note("files half written for a while");
                file.write_half()?;
                sleep(self.random.millis(0, 300));
                file.restore()
            }
            Act::RemoveFolder => {
                self.account.note("folders of the project removed for a while");
                if let Some(folder) = file.path.parent() {
                    fs::remove_dir_all(folder)?;
                    self.damage.note();
                }
                sleep(self.random.millis(0, 300));
                self.project.restore()
            }
        }
    }

    fn remove(&self, path: &Path) {
        self.damage.note();
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        self.damage.note();
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
