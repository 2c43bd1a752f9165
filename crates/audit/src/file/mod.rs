//! Audit file: appends lines to a chain that goes on over rotated files, restarts and other servers that write to the
//! same file.

mod lock;
pub(crate) mod rotation;
mod tail;
#[cfg(test)]
mod tests;

use crate::chain::{BEGINNING, Head, Link};
use crate::error::AuditError;
use crate::event::Event;
use crate::record::{LONGEST_LINE, Record};
use lock::Lock;
use rotation::{Rotation, newest_before};
use rustix::fs::{Stat, fstat};
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use tail::{Tail, Torn};

pub(crate) struct AuditFile {
    path: PathBuf,
    rotation: Rotation,
    lock: Option<Lock>,
    open: Option<OpenFile>,
    /// The end of the chain, as far as this process has seen it.
    head: Option<Head>,
}

struct OpenFile {
    file: Arc<File>,
    /// Its device and inode.
    identity: (u64, u64),
    /// The size that we left it with. With another size, another process has written.
    size: u64,
    /// The time of its first line.
    began: Option<SystemTime>,
    torn: Option<Torn>,
}

impl AuditFile {
    pub(crate) fn new(path: PathBuf, rotation: Rotation) -> Self {
        Self { path, rotation, lock: None, open: None, head: None }
    }

    /// Opens or creates the file, so that a wrong path is found before there is anything to write.
    pub(crate) fn prepare(&mut self) -> Result<(), AuditError> {
        self.locked(Self::catch_up)
    }

    /// Closes the file. The next line opens what is at its path then.
    pub(crate) fn reopen(&mut self) {
        if let Some(open) = self.open.take() {
            self.head = open.head_of_others(self.head);
        }
    }

    /// Appends a line with these members, and returns the file that has it.
    pub(crate) fn append(&mut self, members: &str) -> Result<Arc<File>, AuditError> {
        self.locked(|file| file.append_locked(members))
    }

    fn locked<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        let lock = if let Some(lock) = self.lock.take() {
            lock
        } else {
            make_folder(&self.path)?;
            Lock::open(Lock::path_for(&self.path))?
        };
        let done = lock.hold().and_then(|held| {
            let done = act(self);
            drop(held);
            done
        });
        self.lock = Some(lock);
        done
    }

    fn append_locked(&mut self, members: &str) -> Result<Arc<File>, AuditError> {
        self.catch_up()?;
        let is_due = |open: &OpenFile| self.rotation.is_due(open.size, open.began, members.len());
        if self.open.as_ref().is_some_and(is_due) {
            self.rotate()?;
        }
        self.write_line(members)
    }

    /// Opens what is at the path now, and finds the end of the chain there, unless both are as we left them.
    fn catch_up(&mut self) -> Result<(), AuditError> {
        let found = match mcp_bash_files::look::stat(&self.path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(AuditError::Open { path: self.path.clone(), source }),
        };
        let is_as_left = |open: &OpenFile| found.as_ref().is_some_and(|found| open.is(found));
        if self.open.as_ref().is_some_and(is_as_left) {
            return self.note_torn();
        }
        self.reopen();
        let path = &self.path;
        let opened = mcp_bash_files::append_and_read(path)
            .and_then(|file| fstat(&file).map(|stat| (file, stat)).map_err(Into::into));
        let (file, stat) = opened.map_err(|source| AuditError::Open { path: path.clone(), source })?;
        let unreadable = |source| AuditError::Read { path: path.clone(), source };
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        require_audit_log(&file, size, path)?;
        let Tail { head, torn } = Tail::read(&file, size).map_err(unreadable)?;
        let began = began(&file).map_err(unreadable)?;
        self.open = Some(OpenFile { file: Arc::new(file), identity: identity(&stat), size, began, torn });
        if size == 0 {
            self.make_name_durable()?;
            return self.begin(None);
        }
        // A file of nothing but half a line goes on from the one before.
        self.head = head.or_else(|| self.head_before().map(|(head, _)| head));
        self.note_torn()
    }

    /// Begins a new, empty file, which names the one before.
    fn begin(&mut self, before: Option<PathBuf>) -> Result<(), AuditError> {
        let before = before.or_else(|| {
            let (head, path) = self.head_before()?;
            if self.head.is_none_or(|known| known.seq <= head.seq) {
                self.head = Some(head);
            }
            path
        });
        if self.head.is_none() {
            return Ok(());
        }
        let mut record = Record::new(Event::Continued, SystemTime::now());
        let name = before.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
        record.text_if("audit.previous_file", name.as_deref());
        self.write_line(&record.into_members()).map(drop)
    }

    /// The end of the newest file before this one.
    fn head_before(&self) -> Option<(Head, Option<PathBuf>)> {
        let path = newest_before(&self.path)?;
        let file = mcp_bash_files::open(&path).ok()?;
        let size = file.metadata().ok()?.len();
        let head = Tail::read(&file, size).ok()?.head?;
        Some((head, Some(path)))
    }

    fn rotate(&mut self) -> Result<(), AuditError> {
        if let Some(open) = &self.open {
            let written = open.file.sync_data();
            written.map_err(|source| AuditError::Write { path: self.path.clone(), source })?;
        }
        self.rotation.shift(&self.path)?;
        let newest = beside(&self.path, ".1");
        self.open = None;
        let path = &self.path;
        let failed = |source| AuditError::Open { path: path.clone(), source };
        let file = mcp_bash_files::append_and_read(path).map_err(failed)?;
        let stat = fstat(&file).map_err(|error| failed(error.into()))?;
        self.open = Some(OpenFile {
            file: Arc::new(file),
            identity: identity(&stat),
            size: 0,
            began: Some(SystemTime::now()),
            torn: None,
        });
        self.make_name_durable()?;
        self.begin(Some(newest))
    }

    /// Makes the name of a new file survive a loss of power: without it, durable lines would be in a file that is gone.
    fn make_name_durable(&self) -> Result<(), AuditError> {
        let folder =
            self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let synced = mcp_bash_files::open_folder(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|source| AuditError::Open { path: folder.to_owned(), source })
    }

    /// Records what a killed process left half written.
    fn note_torn(&mut self) -> Result<(), AuditError> {
        let Some(torn) = self.open.as_mut().and_then(|open| open.torn.take()) else { return Ok(()) };
        let mut record = Record::new(Event::Torn, SystemTime::now());
        record.number("torn.bytes", torn.bytes).text("torn.hash", &torn.hash.to_string());
        let (line, head) = self.head.unwrap_or(Head::START).next(&record.into_members());
        let line = if torn.ends_its_line { line } else { format!("\n{line}") };
        let written = self.write(line.as_bytes(), head);
        if written.is_err()
            && let Some(open) = &mut self.open
        {
            open.torn = Some(torn);
        }
        written.map(drop)
    }

    fn write_line(&mut self, members: &str) -> Result<Arc<File>, AuditError> {
        let (line, head) = self.head.unwrap_or(Head::START).next(members);
        self.write(line.as_bytes(), head)
    }

    /// Writes a whole line, or nothing.
    fn write(&mut self, line: &[u8], head: Head) -> Result<Arc<File>, AuditError> {
        let failed = |source| AuditError::Write { path: self.path.clone(), source };
        let Some(open) = &mut self.open else { return Err(failed(io::ErrorKind::NotFound.into())) };
        let written = (&*open.file).write_all(line);
        if let Err(source) = written {
            // A disk that is full takes a part of a line. What cannot be taken back is found as torn the next time.
            if open.file.set_len(open.size).is_err() {
                self.open = None;
            }
            return Err(failed(source));
        }
        open.size += line.len() as u64;
        open.began.get_or_insert_with(SystemTime::now);
        self.head = Some(head);
        Ok(Arc::clone(&open.file))
    }
}

/// Device and inode of a file.
#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "devices have 32 bits and a sign on some systems"
)]
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino)
}

impl OpenFile {
    fn is(&self, found: &Stat) -> bool {
        self.identity == identity(found) && u64::try_from(found.st_size).is_ok_and(|size| size == self.size)
    }

    /// The end of the chain in this file, which others may have written to since, and which may have another name now.
    fn head_of_others(&self, known: Option<Head>) -> Option<Head> {
        let size = self.file.metadata().map_or(self.size, |found| found.len());
        if size == self.size {
            return known;
        }
        Tail::read(&self.file, size).ok().and_then(|tail| tail.head).or(known)
    }
}

/// A path with an ending added to its name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn make_folder(log: &Path) -> Result<(), AuditError> {
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(folder) = folder else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| AuditError::Folder { path: folder.to_owned(), source })
}

/// Refuses a file that holds something else, before anything is added to it.
fn require_audit_log(file: &File, size: u64, path: &Path) -> Result<(), AuditError> {
    let mut start = vec![0; BEGINNING.len().min(usize::try_from(size).unwrap_or(usize::MAX))];
    let read = file.read_exact_at(&mut start, 0);
    read.map_err(|source| AuditError::Read { path: path.to_owned(), source })?;
    if BEGINNING.as_bytes().starts_with(&start) {
        return Ok(());
    }
    Err(AuditError::NotAnAuditLog { path: path.to_owned() })
}

/// The time of the first line.
fn began(file: &File) -> io::Result<Option<SystemTime>> {
    let mut start = vec![0; LONGEST_LINE];
    let count = file.read_at(&mut start, 0)?;
    let line = start[..count].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(Link::read(line).and_then(|link| mcp_bash_utc::parse(&link.time)))
}
