//! Another attack, made by a process that the sandbox might not see as the tool: a daemon, another program, a
//! thread. The report is that of the attack.

use super::attack::{Attack, Attempt, Failure};
use super::system_call::{
    address, call, descriptor, exit_now, number_of, start_child, start_orphan, text, wait_for,
};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::process::Command;

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "by-program", usage: "ATTACK...", run: by_program },
    Attack { name: "by-shell", usage: "ATTACK...", run: by_shell },
    Attack { name: "by-daemon", usage: "ATTACK...", run: by_daemon },
    Attack { name: "by-memory-file", usage: "ATTACK...", run: by_memory_file },
    Attack { name: "by-copy", usage: "OWN-FOLDER ATTACK...", run: by_copy },
];

/// The report of the inner attack, which becomes that of this one.
fn relayed(report: &[u8]) -> Attempt {
    let report = String::from_utf8_lossy(report).trim_end().to_owned();
    if report.contains("\"done\":true") { Ok(report) } else { Err(Failure::without_errno(report)) }
}

fn output(command: &mut Command) -> Attempt {
    relayed(&command.output()?.stdout)
}

fn own_program() -> io::Result<String> {
    Ok(std::env::current_exe()?.to_string_lossy().into_owned())
}

fn by_program(parameters: &[&str]) -> Attempt {
    output(Command::new(own_program()?).args(parameters))
}

fn by_shell(parameters: &[&str]) -> Attempt {
    output(Command::new("/bin/sh").args(["-c", "\"$0\" \"$@\"; true"]).arg(own_program()?).args(parameters))
}

/// A process whose parent has exited, in a session of its own.
fn by_daemon(parameters: &[&str]) -> Attempt {
    let program = own_program()?;
    let (mut report, end) = io::pipe()?;
    let parent = start_child(|| {
        let daemon = start_orphan(|| {
            let _ = call(libc::SYS_setsid, &[]);
            let made = Command::new(&program).args(parameters).output();
            let text = made.map_or_else(|error| error.to_string().into_bytes(), |made| made.stdout);
            u8::from((&end).write_all(&text).is_err())
        });
        u8::from(daemon.is_err())
    })?;
    drop(end);
    wait_for(parent)?;
    let mut text = Vec::new();
    report.read_to_end(&mut text)?;
    relayed(&text)
}

/// A program that is in no folder.
fn by_memory_file(parameters: &[&str]) -> Attempt {
    let name = text("hostile");
    let file = descriptor(libc::SYS_memfd_create, &[address(name.as_bytes_with_nul()), 0])?;
    let mut copy = File::from(file);
    io::copy(&mut File::open("/proc/self/exe").or_else(|_| File::open(own_program()?))?, &mut copy)?;
    let (mut report, end) = io::pipe()?;
    let words: Vec<_> = ["hostile"].iter().chain(parameters).map(|word| text(word)).collect();
    let mut pointers: Vec<usize> = words.iter().map(|word| address(word.as_bytes_with_nul())).collect();
    pointers.push(0);
    let variables = [text(&format!("TMPDIR={}", std::env::temp_dir().display()))];
    let environment = [address(variables[0].as_bytes_with_nul()), 0];
    let child = start_child(|| {
        let _ = call(libc::SYS_dup3, &[number_of(&end), 1, 0]);
        let nothing = text("");
        let arguments = [
            number_of(&copy),
            address(nothing.as_bytes_with_nul()),
            address(pointers.as_slice()),
            address(&environment),
            libc::AT_EMPTY_PATH as usize,
        ];
        let failed = call(libc::SYS_execveat, &arguments).map_err(|error| error.to_string()).unwrap_err();
        let _ = (&end).write_all(failed.as_bytes());
        exit_now(1)
    })?;
    drop(end);
    let mut text = Vec::new();
    report.read_to_end(&mut text)?;
    wait_for(child)?;
    relayed(&text)
}

/// A copy of this program in a folder that it may write.
fn by_copy(parameters: &[&str]) -> Attempt {
    let copy = format!("{}/copy-of-hostile", parameters[0]);
    fs::copy(own_program()?, &copy)?;
    output(Command::new(copy).args(&parameters[1..]))
}
