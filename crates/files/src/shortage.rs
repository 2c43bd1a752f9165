//! Resource shortages: the system has no free descriptor, memory or space. They pass by themselves, and what was read
//! meanwhile is not what is on the disk.
//!
//! A project is read in many places, and most of them rightly treat a file that cannot be opened as missing. So that
//! none of them mistakes a shortage for a missing file, it is recorded here, for the thread that met it.

use rustix::io::Errno;
use std::cell::RefCell;
use std::io;

thread_local! {
    /// The first shortage that this thread met since [`during`] began.
    static MET: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Whether the system lacks something that it may have again in a moment.
pub fn is_shortage(error: &io::Error) -> bool {
    is_shortage_of_files(error) || Errno::from_io_error(error) == Some(Errno::AGAIN)
}

/// The same for a file, where `EAGAIN` means that another process has a lease on it.
fn is_shortage_of_files(error: &io::Error) -> bool {
    let lacks = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOSPC, Errno::DQUOT, Errno::NOBUFS];
    Errno::from_io_error(error).is_some_and(|error| lacks.contains(&error))
}

/// Records an error if it is a shortage. Returns the error in any case.
pub fn noted(error: io::Error) -> io::Error {
    if is_shortage_of_files(&error) {
        note(error.to_string());
    }
    error
}

/// Records a shortage that was met elsewhere.
pub fn note(words: String) {
    MET.with_borrow_mut(|met| {
        met.get_or_insert(words);
    });
}

/// Runs some work on this thread. Also returns the first shortage that it met.
pub fn during<T>(work: impl FnOnce() -> T) -> (T, Option<String>) {
    let before = MET.take();
    let done = work();
    let met = MET.take();
    MET.set(before.or_else(|| met.clone()));
    (done, met)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_known_to_everybody_around_it_and_to_no_other() {
        let full = || noted(Errno::MFILE.into());
        let (((), inner), outer) = during(|| {
            drop(noted(Errno::NOENT.into()));
            during(|| drop(full()))
        });
        assert_eq!(inner.as_deref(), Some("Too many open files (os error 24)"));
        assert_eq!(inner, outer);
        let ((), after) = during(|| ());
        assert_eq!(after, None);
    }

    #[test]
    fn neither_a_missing_file_nor_a_lease_is_a_shortage() {
        for other in [Errno::NOENT, Errno::ACCESS, Errno::LOOP, Errno::ISDIR, Errno::AGAIN] {
            assert_eq!(during(|| drop(noted(other.into()))).1, None, "{other}");
        }
        assert!(is_shortage(&Errno::AGAIN.into()) && !is_shortage(&Errno::NOENT.into()));
    }
}
