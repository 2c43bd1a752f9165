//! Machine requirements of a server: what it needs before any call can be served. They are checked once, at the start, so
//! that the operator and the client learn at once what is missing, and not with each call.

use crate::base::error::Error;
use mcp_bash_files::shortage::is_shortage;
use rustix::fs::{Access, FileType, Mode, OFlags, StatVfs, access, fstat, open, statvfs};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// The variables that say where temporary files are created.
const BY_SYSTEM: &str = "TMPDIR";
const BY_SETTING: &str = "MCPBASH_TMP_ROOT";

/// The input of processes that get none, and the output of those that nobody reads.
const NULL_DEVICE: &str = "/dev/null";

/// Checks whether calls could be served. `temporary` is the folder for temporary files, if a setting names it. Everything that
/// is missing is reported at once: an empty root lacks all of it.
pub(crate) fn check(temporary: Option<&Path>) -> Result<(), Error> {
    let checks = [
        check_program(std::env::current_exe()),
        check_null_device(Path::new(NULL_DEVICE)),
        check_temporary_folder(temporary),
    ];
    let mut missing: Vec<Error> = checks.into_iter().filter_map(Result::err).collect();
    match missing.len() {
        0 => Ok(()),
        1 => Err(missing.remove(0)),
        _ => Err(Error::Missing(missing)),
    }
}

/// Scripts find the SDK, and helpers are started, by the path of this program, which Linux reports in `/proc`.
fn check_program(path: io::Result<PathBuf>) -> Result<(), Error> {
    match path {
        Err(source) if is_shortage(&source) => Err(Error::Start { source }),
        Err(_) if cfg!(all(target_os = "linux", not(mcp_bash_portable))) => Err(Error::NoProc),
        Err(source) => Err(Error::Start { source }),
        Ok(_) => Ok(()),
    }
}

/// The server's own processes and scripts without input are started with it.
fn check_null_device(device: &Path) -> Result<(), Error> {
    let problem = match open(device, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        Ok(opened) => match fstat(&opened) {
            Ok(looks) if FileType::from_raw_mode(looks.st_mode) == FileType::CharacterDevice => return Ok(()),
            Ok(_) => "it is no device".to_owned(),
            Err(error) => words_of(&error.into()),
        },
        Err(error) if is_shortage(&error.into()) => return Err(Error::Start { source: error.into() }),
        Err(error) => words_of(&error.into()),
    };
    Err(Error::NoNullDevice { problem })
}

/// Checks whether files can be created in the folder for temporary files. Creates none.
pub(crate) fn check_temporary_folder(named: Option<&Path>) -> Result<(), Error> {
    let (folder, setting) = match named {
        Some(folder) => (folder.to_owned(), BY_SETTING),
        None => (std::env::temp_dir(), BY_SYSTEM),
    };
    match problem_of(&folder) {
        None => Ok(()),
        Some(problem) => Err(Error::Temporary { folder, problem, setting }),
    }
}

fn problem_of(folder: &Path) -> Option<String> {
    let may_be_used = Access::WRITE_OK | Access::EXEC_OK;
    match folder.metadata() {
        Err(error) => return Some(words_of(&error)),
        Ok(looks) if !looks.is_dir() => return Some("it is no folder".to_owned()),
        Ok(_) => {}
    }
    if let Err(error) = access(folder, may_be_used) {
        return Some(words_of(&error.into()));
    }
    let room = statvfs(folder).ok()?;
    is_full(&room).then(|| words_of(&Errno::NOSPC.into()))
}

/// Whether no file can be created: no block or no inode is free. Some file systems count neither.
fn is_full(room: &StatVfs) -> bool {
    (room.f_blocks > 0 && room.f_bavail == 0) || (room.f_files > 0 && room.f_favail == 0)
}

/// The system's message without the error number.
fn words_of(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_found_is_said_to_lack_proc() {
        let missing = check_program(Err(io::ErrorKind::NotFound.into())).unwrap_err().to_string();
        if cfg!(all(target_os = "linux", not(mcp_bash_portable))) {
            assert!(missing.contains("/proc/self/exe cannot be read"), "{missing}");
        }
        let short = check_program(Err(Errno::NOMEM.into())).unwrap_err().to_string();
        assert!(short.contains("Cannot allocate memory"), "{short}");
        assert!(check_program(Ok("/usr/bin/mcp-bash".into())).is_ok());
    }

    #[test]
    fn a_null_device_must_be_a_device() {
        assert!(check_null_device(Path::new(NULL_DEVICE)).is_ok());
        let folder = tempfile::tempdir().unwrap();
        let missing = check_null_device(&folder.path().join("null")).unwrap_err().to_string();
        assert!(missing.contains("/dev/null cannot be used: No such file or directory"), "{missing}");
        assert!(missing.contains("mknod -m 666 /dev/null c 1 3"), "{missing}");
        // A shell that wrote to it before the device was there has made a file.
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let fake = check_null_device(&file).unwrap_err().to_string();
        assert!(fake.contains("it is no device"), "{fake}");
    }

    #[test]
    fn each_problem_of_a_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(problem_of(folder.path()), None);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(problem_of(&file).as_deref(), Some("it is no folder"));
        let gone = problem_of(&folder.path().join("none"));
        assert_eq!(gone.as_deref(), Some("No such file or directory"));
        let setting = check_temporary_folder(Some(&file)).unwrap_err().to_string();
        assert!(setting.contains("set MCPBASH_TMP_ROOT to a folder"), "{setting}");
    }
}
