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

    /// What a program shows on it, which must end well.
    pub(crate) fn run(self, mut command: Command) -> String {
        command.stdin(Stdio::null());
        self.show(command)
    }

    /// The same for a program that a person answers, who types all of it at once.
    pub(crate) fn answer(self, mut command: Command, typed: &str) -> String {
        command.stdin(self.keyboard());
        File::from(self.screen.try_clone().expect("a screen"))
            .write_all(typed.as_bytes())
            .expect("a keyboard");
        self.show(command)
    }

    /// The end that a program has.
    fn keyboard(&self) -> File {
        let path = ptsname(&self.screen, Vec::new()).expect("a name");
        let terminal = OpenOptions::new().read(true).write(true).open(path.to_str().expect("a path"));
        terminal.expect("a terminal")
    }

    fn show(self, mut command: Command) -> String {
        command.stderr(Stdio::piped()).stdout(self.keyboard());
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
