//! Settling: files that are being written. An editor that truncates a file and writes it again leaves a moment in which the
//! file is neither the old one nor the new one.

use std::path::Path;
use std::time::{Duration, SystemTime};

/// A file that was not changed for this long is complete.
pub const STILL: Duration = Duration::from_secs(1);

/// Whether a file has changed a moment ago, by the time that the kernel records and no program can set.
pub(crate) fn is_being_written(file: &Path) -> bool {
    let Ok(looks) = rustix::fs::stat(file) else { return false };
    let changed =
        Duration::new(looks.st_ctime.unsigned_abs(), u32::try_from(looks.st_ctime_nsec).unwrap_or(0));
    let age = SystemTime::UNIX_EPOCH.elapsed().map(|now| now.checked_sub(changed));
    // A time in the future, after the clock was set back, says nothing.
    age.is_ok_and(|age| age.is_some_and(|age| age < STILL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_was_just_written_is_being_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(is_being_written(file.path()));
        assert!(!is_being_written(Path::new("/")) && !is_being_written(Path::new("/nowhere")));
    }
}
