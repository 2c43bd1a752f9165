//! The metadata of files outside. Landlock has no right for these, so only the owner and mode of a file, a
//! namespace or a filter protects it.

use super::attack::{Attack, Attempt, Failure};
use super::system_call::{address, call, text};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "chmod", usage: "FILE", run: |parameters| noted(chmod(parameters[0])) },
    Attack { name: "chown", usage: "FILE UID", run: |parameters| noted(change_owner(parameters)) },
    Attack { name: "utime", usage: "FILE", run: |parameters| noted(utime(parameters[0])) },
    Attack { name: "setxattr", usage: "FILE", run: |parameters| noted(setxattr(parameters[0])) },
    Attack { name: "stat", usage: "FILE", run: |parameters| noted(fs::metadata(parameters[0]).map(|_| ())) },
];

fn noted(result: io::Result<()>) -> Attempt {
    match result {
        Ok(()) => Ok("metadata".to_owned()),
        Err(error) => Err(Failure::noted(&error, "metadata")),
    }
}

fn chmod(path: &str) -> io::Result<()> {
    let mode = fs::metadata(path)?.mode();
    fs::set_permissions(path, Permissions::from_mode(mode ^ 0o001))
}

fn change_owner(parameters: &[&str]) -> io::Result<()> {
    let uid = parameters[1].parse().map_err(io::Error::other)?;
    chown(parameters[0], Some(uid), None)
}

fn utime(path: &str) -> io::Result<()> {
    let path = text(path);
    // No times: now. Seconds and nanoseconds of access and of modification otherwise.
    let times = [1_i64, 0, 1, 0];
    let here = libc::AT_FDCWD as usize;
    call(libc::SYS_utimensat, &[here, address(path.as_bytes_with_nul()), address(&times), 0]).map(|_| ())
}

fn setxattr(path: &str) -> io::Result<()> {
    let (path, name, value) = (text(path), text("user.hostile"), b"1");
    let arguments = [
        address(path.as_bytes_with_nul()),
        address(name.as_bytes_with_nul()),
        address(value),
        value.len(),
        0,
    ];
    call(libc::SYS_setxattr, &arguments).map(|_| ())
}
