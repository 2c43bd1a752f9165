//! Files outside: their contents and names.

use super::attack::{Attack, Attempt, Failure};
use super::system_call::{address, call, descriptor, number_of, start_child, text, wait_for};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "read", usage: "FILE", run: |parameters| read(parameters[0]) },
    Attack { name: "list", usage: "FOLDER", run: list },
    Attack { name: "write", usage: "FILE", run: write },
    Attack { name: "create", usage: "FILE", run: create },
    Attack { name: "create-folder", usage: "FOLDER", run: create_folder },
    Attack { name: "truncate", usage: "FILE", run: truncate },
    Attack { name: "remove", usage: "FILE", run: remove },
    Attack { name: "run", usage: "PROGRAM", run: start },
    Attack { name: "follow-link", usage: "OWN-FOLDER FILE", run: follow_link },
    Attack { name: "write-through-link", usage: "OWN-FOLDER FILE", run: write_through_link },
    Attack { name: "climb", usage: "OWN-FOLDER FILE", run: climb },
    Attack { name: "swap-link", usage: "OWN-FOLDER FILE", run: swap_link },
    Attack { name: "rename-over", usage: "OWN-FOLDER FILE", run: rename_over },
    Attack { name: "rename-away", usage: "OWN-FOLDER FILE", run: rename_away },
    Attack { name: "exchange", usage: "OWN-FOLDER FILE", run: exchange },
    Attack { name: "hard-link", usage: "OWN-FOLDER FILE", run: hard_link },
    Attack { name: "reopen", usage: "FILE", run: reopen },
    Attack {
        name: "read-through-proc",
        usage: "FILE",
        run: |parameters| read(&format!("/proc/self/root{}", parameters[0])),
    },
];

pub(super) fn read(path: &str) -> Attempt {
    beginning_of(File::open(path)?)
}

fn beginning_of(file: File) -> Attempt {
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        Err(Failure::without_errno("empty"))
    } else {
        Ok(format!("read {} bytes", bytes.len()))
    }
}

fn list(parameters: &[&str]) -> Attempt {
    Ok(format!("{} entries", fs::read_dir(parameters[0])?.count()))
}

fn write(parameters: &[&str]) -> Attempt {
    OpenOptions::new().write(true).open(parameters[0])?.write_all(b"#")?;
    Ok("wrote".to_owned())
}

fn create(parameters: &[&str]) -> Attempt {
    File::create_new(parameters[0])?.write_all(b"#")?;
    Ok("created".to_owned())
}

fn create_folder(parameters: &[&str]) -> Attempt {
    fs::create_dir(parameters[0])?;
    Ok("created".to_owned())
}

fn truncate(parameters: &[&str]) -> Attempt {
    let path = text(parameters[0]);
    call(libc::SYS_truncate, &[address(path.as_bytes_with_nul()), 0])?;
    Ok("truncated".to_owned())
}

fn remove(parameters: &[&str]) -> Attempt {
    fs::remove_file(parameters[0])?;
    Ok("removed".to_owned())
}

fn start(parameters: &[&str]) -> Attempt {
    let status = Command::new(parameters[0]).stdout(Stdio::null()).status()?;
    Ok(status.to_string())
}

fn follow_link(parameters: &[&str]) -> Attempt {
    let link = Path::new(parameters[0]).join("followed");
    symlink(parameters[1], &link)?;
    beginning_of(File::open(link)?)
}

fn write_through_link(parameters: &[&str]) -> Attempt {
    let link = Path::new(parameters[0]).join("written");
    symlink(parameters[1], &link)?;
    OpenOptions::new().append(true).open(link)?.write_all(b"#")?;
    Ok("wrote".to_owned())
}

/// From a folder that is its own, upwards.
fn climb(parameters: &[&str]) -> Attempt {
    let folder = fs::canonicalize(parameters[0])?;
    let up = "../".repeat(folder.components().count());
    beginning_of(File::open(folder.join(format!("{up}{}", parameters[1].trim_start_matches('/'))))?)
}

/// A child exchanges a file of its own and a link to the outside all the time, in the hope that one is checked
/// and the other opened.
fn swap_link(parameters: &[&str]) -> Attempt {
    const OWN: &[u8] = b"own";
    let folder = Path::new(parameters[0]);
    let (first, second) = (folder.join("first"), folder.join("second"));
    fs::write(&first, OWN)?;
    symlink(parameters[1], &second)?;
    let names = [&first, &second].map(|path| text(&path.to_string_lossy()));
    let child = start_child(|| {
        for _ in 0..1_000_000 {
            let _ = exchange_names(&names[0], &names[1]);
        }
        0
    })?;
    let mut last = Err(Failure::without_errno("never opened"));
    for _ in 0..20_000 {
        let mut found = Vec::new();
        last = match File::open(&first) {
            Ok(file) => match file.take(4096).read_to_end(&mut found) {
                Ok(_) if found == OWN => last,
                Ok(count) => Ok(format!("read {count} bytes")),
                Err(error) => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        };
        if last.is_ok() {
            break;
        }
    }
    let _ = call(libc::SYS_kill, &[child as usize, libc::SIGKILL as usize]);
    let _ = wait_for(child);
    last
}

fn exchange_names(first: &std::ffi::CStr, second: &std::ffi::CStr) -> std::io::Result<usize> {
    let here = libc::AT_FDCWD as usize;
    let names = [first, second].map(|name| address(name.to_bytes_with_nul()));
    call(libc::SYS_renameat2, &[here, names[0], here, names[1], libc::RENAME_EXCHANGE as usize])
}

fn rename_over(parameters: &[&str]) -> Attempt {
    let own = Path::new(parameters[0]).join("renamed");
    fs::write(&own, "#")?;
    fs::rename(own, parameters[1])?;
    Ok("replaced".to_owned())
}

fn rename_away(parameters: &[&str]) -> Attempt {
    fs::rename(parameters[1], Path::new(parameters[0]).join("taken"))?;
    Ok("taken".to_owned())
}

fn exchange(parameters: &[&str]) -> Attempt {
    let own = Path::new(parameters[0]).join("exchanged");
    fs::write(&own, "#")?;
    exchange_names(&text(&own.to_string_lossy()), &text(parameters[1]))?;
    Ok("exchanged".to_owned())
}

fn hard_link(parameters: &[&str]) -> Attempt {
    let link = Path::new(parameters[0]).join("linked");
    fs::hard_link(parameters[1], &link)?;
    beginning_of(File::open(link)?)
}

/// `O_PATH` needs no right to read; the descriptor is opened again for reading.
fn reopen(parameters: &[&str]) -> Attempt {
    let path = text(parameters[0]);
    let here = libc::AT_FDCWD as usize;
    let found =
        descriptor(libc::SYS_openat, &[here, address(path.as_bytes_with_nul()), libc::O_PATH as usize])?;
    read(&format!("/proc/self/fd/{}", number_of(&found)))
}
