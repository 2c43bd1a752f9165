//! An attack, and the report of what came of it.

use std::fmt::Write;
use std::io;

pub(super) struct Attack {
    pub(super) name: &'static str,
    /// The names of its parameters. The last one may end with `...`: one or more.
    pub(super) usage: &'static str,
    pub(super) run: fn(&[&str]) -> Attempt,
}

impl Attack {
    pub(super) fn takes(&self, count: usize) -> bool {
        let named = self.usage.split_whitespace().count();
        if self.usage.ends_with("...") { count >= named } else { count == named }
    }
}

/// A note on what was achieved, or why it was not.
pub(super) type Attempt = Result<String, Failure>;

pub(super) struct Failure {
    errno: Option<i32>,
    note: String,
}

impl Failure {
    /// The attack had no effect, although no system call failed.
    pub(super) fn without_errno(note: impl Into<String>) -> Self {
        Self { errno: None, note: note.into() }
    }

    pub(super) fn noted(error: &io::Error, note: impl Into<String>) -> Self {
        Self { errno: error.raw_os_error(), note: note.into() }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::noted(&error, error.to_string())
    }
}

/// For system calls that must not succeed because they would do harm: they are given nonsense. A complaint about
/// the nonsense shows that the kernel would have obeyed.
pub(super) fn is_past_the_permission_check(result: io::Result<usize>) -> Attempt {
    match result {
        Ok(_) => Ok("succeeded".to_owned()),
        Err(error) => match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => Err(error.into()),
            errno => Ok(format!("permitted: {}", name_of(errno.unwrap_or_default()))),
        },
    }
}

/// The report: one line of JSON.
pub(super) fn line(attack: &str, attempt: &Attempt) -> String {
    let (is_done, errno, note) = match attempt {
        Ok(note) => (true, None, note),
        Err(failure) => (false, failure.errno, &failure.note),
    };
    let errno = errno.map_or("null".to_owned(), |errno| quoted(&name_of(errno)));
    let (attack, note) = (quoted(attack), quoted(note));
    format!("{{\"attack\":{attack},\"done\":{is_done},\"errno\":{errno},\"note\":{note}}}\n")
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..=' ' | '\u{7f}' if character != ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The name of an error number, or the number.
pub(super) fn name_of(errno: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (libc::EACCES, "EACCES"),
        (libc::EADDRINUSE, "EADDRINUSE"),
        (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
        (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::EBADF, "EBADF"),
        (libc::EBUSY, "EBUSY"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
        (libc::ECONNRESET, "ECONNRESET"),
        (libc::EEXIST, "EEXIST"),
        (libc::EFAULT, "EFAULT"),
        (libc::EFBIG, "EFBIG"),
        (libc::EHOSTUNREACH, "EHOSTUNREACH"),
        (libc::EINVAL, "EINVAL"),
        (libc::EIO, "EIO"),
        (libc::EISDIR, "EISDIR"),
        (libc::ELOOP, "ELOOP"),
        (libc::EMFILE, "EMFILE"),
        (libc::ENETUNREACH, "ENETUNREACH"),
        (libc::ENODEV, "ENODEV"),
        (libc::ENOENT, "ENOENT"),
        (libc::ENOEXEC, "ENOEXEC"),
        (libc::ENOKEY, "ENOKEY"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::ENOTCONN, "ENOTCONN"),
        (libc::ENOTDIR, "ENOTDIR"),
        (libc::ENOTSUP, "ENOTSUP"),
        (libc::ENOTTY, "ENOTTY"),
        (libc::ENXIO, "ENXIO"),
        (libc::EPERM, "EPERM"),
        (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
        (libc::EROFS, "EROFS"),
        (libc::ESRCH, "ESRCH"),
        (libc::ETIMEDOUT, "ETIMEDOUT"),
        (libc::EXDEV, "EXDEV"),
    ];
    let known = NAMES.iter().find(|(number, _)| *number == errno);
    known.map_or_else(|| errno.to_string(), |(_, name)| (*name).to_owned())
}
