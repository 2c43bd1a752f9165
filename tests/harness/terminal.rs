//! A terminal, for programs that behave differently on one.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

pub(crate) struct Terminal {
    /// The end that a person looks at.
    screen: OwnedFd,
}

impl Terminal {
    pub(crate) fn of_columns(columns: u16) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&screen).expect("a terminal of our own");
        unlockpt(&screen).expect("a terminal that can be opened");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&screen, size).expect("a size");
        Self { screen }
    }

    /// What a program shows to a person who types this, and its exit code.
    pub(crate) fn run_typing(self, mut command: Command, typed: &str) -> (String, Option<i32>) {
        let path = ptsname(&self.screen, Vec::new()).expect("a name");
        let open = || OpenOptions::new().read(true).write(true).open(path.to_str().expect("a path"));
        command.stdin(open().expect("a terminal")).stdout(open().expect("a terminal")).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        drop(command);
        let mut screen = File::from(self.screen);
        screen.write_all(typed.as_bytes()).expect("a terminal takes what is typed");
        let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = screen.read(&mut piece) {
            shown.extend_from_slice(&piece[..count]);
        }
        let status = child.wait().expect("a status");
        (String::from_utf8_lossy(&shown).into_owned(), status.code())
    }

    /// What a program shows on it, which must end well.
    pub(crate) fn run(self, mut command: Command) -> String {
        let path = ptsname(&self.screen, Vec::new()).expect("a name");
        let terminal = OpenOptions::new().read(true).write(true).open(path.to_str().expect("a path"));
        command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(terminal.expect("a terminal"));
        let mut child = command.spawn().expect("the program starts");
        // The last one that has it open, so that reading ends with it.
        drop(command);
        let mut shown = Vec::new();
        let mut piece = [0; 4096];
        // Reading fails when nobody has the other end any more.
        let mut screen = File::from(self.screen);
        while let Ok(count @ 1..) = screen.read(&mut piece) {
            shown.extend_from_slice(&piece[..count]);
        }
        let status = child.wait().expect("a status");
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert!(status.success(), "{status}: {shown}");
        shown
    }
}
