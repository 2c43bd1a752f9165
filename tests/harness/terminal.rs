//! A terminal, for programs that behave differently on one.

use super::wait_until;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub(crate) struct Terminal {
    /// The side that a user looks at.
    screen: OwnedFd,
}

impl Terminal {
    pub(crate) fn of_columns(columns: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        // Programs of other tests do not inherit it. Elsewhere one that starts at this moment does.
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let screen = openpt(flags).expect("a terminal");
        fcntl_setfd(&screen, FdFlags::CLOEXEC).expect("a flag");
        grantpt(&screen).expect("a terminal of our own");
        unlockpt(&screen).expect("a terminal that can be opened");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&screen, size).expect("a size");
        Self { screen }
    }

    /// The output of a program for a user who types this, and its exit code.
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

    /// The output of a program, which must succeed.
    pub(crate) fn run(self, mut command: Command) -> String {
        command.stdin(Stdio::null());
        self.show(command)
    }

    /// The same for a program that a user answers, typing everything at once.
    pub(crate) fn answer(self, mut command: Command, typed: &str) -> String {
        command.stdin(self.keyboard());
        File::from(self.screen.try_clone().expect("a screen"))
            .write_all(typed.as_bytes())
            .expect("a keyboard");
        self.show(command)
    }

    /// The side that a program uses.
    fn keyboard(&self) -> File {
        let path = ptsname(&self.screen, Vec::new()).expect("a name");
        let terminal = OpenOptions::new().read(true).write(true).open(path.to_str().expect("a path"));
        terminal.expect("a terminal")
    }

    fn show(self, mut command: Command) -> String {
        command.stderr(Stdio::piped()).stdout(self.keyboard());
        let mut child = command.spawn().expect("the program starts");
        // The program holds the last open descriptor, so reading ends when it exits.
        drop(command);
        let mut shown = Vec::new();
        let mut piece = [0; 4096];
        // Reading fails when the other side is closed.
        let mut screen = File::from(self.screen);
        while let Ok(count @ 1..) = screen.read(&mut piece) {
            shown.extend_from_slice(&piece[..count]);
        }
        let status = child.wait().expect("a status");
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert!(status.success(), "{status}: {shown}");
        shown
    }

    /// A program with this as its controlling terminal: it reads from it, writes to it, and receives its
    /// Ctrl-C.
    pub(crate) fn start(self, command: &Command) -> TerminalSession {
        let child = self.session_of(command);
        let screen = File::from(self.screen);
        let keyboard = screen.try_clone().expect("a descriptor");
        let shown = Arc::new(Mutex::new(String::new()));
        let reader = std::thread::spawn({
            let shown = Arc::clone(&shown);
            move || read_all(screen, &shown)
        });
        TerminalSession { child, keyboard, shown, seen: 0, reader }
    }

    /// The same for a user who looks at nothing. The terminal is gone when the returned side of it is dropped.
    pub(crate) fn start_unread(self, command: &Command) -> (Child, OwnedFd) {
        (self.session_of(command), self.screen)
    }

    fn session_of(&self, command: &Command) -> Child {
        let path = ptsname(&self.screen, Vec::new()).expect("a name");
        let path = path.to_str().expect("a path").to_owned();
        let end = || OpenOptions::new().read(true).write(true).open(&path).expect("a terminal");
        let mut session = Command::new("setsid");
        session.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => session.env(name, value),
                None => session.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            session.current_dir(folder);
        }
        // The program holds the last open descriptor, so reading ends when it exits.
        session.stdin(end()).stdout(end()).stderr(end()).spawn().expect("the program starts")
    }
}

fn read_all(mut screen: File, shown: &Mutex<String>) {
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = screen.read(&mut piece) {
        shown.lock().expect("a text").push_str(&String::from_utf8_lossy(&piece[..count]));
    }
}

/// A program on a terminal, and a user who types.
pub(crate) struct TerminalSession {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<String>>,
    /// How much of the output was already waited for.
    seen: usize,
    reader: JoinHandle<()>,
}

impl TerminalSession {
    /// Types `keys` when `text` is shown.
    pub(crate) fn when(mut self, text: &str, keys: &str) -> Self {
        wait_until(text, || self.shown.lock().expect("a text").contains(text).then_some(()));
        self.keyboard.write_all(keys.as_bytes()).expect("a keyboard");
        self
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("a keyboard");
    }

    /// Waits until this is shown, and returns everything shown since the last time.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let seen = self.seen;
        let end = wait_until(&format!("{text:?} on the screen"), || {
            let shown = self.shown.lock().expect("a text");
            shown[seen..].find(text).map(|place| seen + place + text.len())
        });
        self.seen = end;
        self.shown.lock().expect("a text")[seen..end].to_owned()
    }

    /// The process id of the program.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The exit code of the program, and everything that was shown.
    pub(crate) fn finish(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("a status");
        // Reading ends when the last descriptor of the other side is closed.
        self.reader.join().expect("a reader");
        let shown = self.shown.lock().expect("a text").clone();
        (status.code(), shown)
    }
}
