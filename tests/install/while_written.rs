//! `mcp-bash install` while a client writes its file, as clients do: truncated and rewritten, or replaced by
//! another file. At no moment is anything lost that the client wrote.

use crate::harness::{Home, wait_until};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use std::fs::{self, File};
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};

const CURSOR: &str = ".cursor/mcp.json";

const CODEX: &str = ".codex/config.toml";

/// Counts how often a file is opened, from now on.
struct Opens {
    events: OwnedFd,
    count: usize,
}

impl Opens {
    fn of(file: &Path) -> Self {
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).expect("events");
        inotify::add_watch(&events, file, WatchFlags::OPEN).expect("a watch");
        Self { events, count: 0 }
    }

    /// Waits until it was opened so often, or the program has exited. False if it exited first.
    fn wait_for(&mut self, count: usize, program: &mut Child) -> bool {
        wait_until("the file to be opened", || {
            let has_ended = program.try_wait().expect("a child").is_some();
            let mut room = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(&self.events, &mut room);
            while reader.next().is_ok() {
                self.count += 1;
            }
            if self.count >= count { Some(true) } else { has_ended.then_some(false) }
        })
    }
}

/// Five servers with keys.
fn servers(version: usize) -> String {
    let server = |number: usize| {
        format!(
            "    \"s{number}\": {{ \"command\": \"x\", \"env\": {{ \"KEY\": \"secret-{version}-{number}\" }} }}"
        )
    };
    format!("{{\n  \"mcpServers\": {{\n{}\n  }}\n}}\n", (1..=5).map(server).collect::<Vec<_>>().join(",\n"))
}

fn install(home: &Home, client: &str) -> Child {
    let mut command = home.command(&["install", client]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

fn keys_in(text: &str, version: usize) -> usize {
    (1..=5).filter(|number| text.contains(&format!("secret-{version}-{number}"))).count()
}

#[test]
fn a_file_that_its_client_has_truncated_is_waited_for() {
    let home = Home::new();
    home.write(CURSOR, &servers(1));
    let mut client = File::create(home.path(CURSOR)).unwrap();
    let mut opens = Opens::of(&home.path(CURSOR));
    let mut program = install(&home, "cursor");
    opens.wait_for(3, &mut program);
    let text = servers(2);
    let (first, rest) = text.split_at(text.len() / 2);
    client.write_all(first.as_bytes()).unwrap();
    let seen = opens.count;
    opens.wait_for(seen + 2, &mut program);
    client.write_all(rest.as_bytes()).unwrap();
    drop(client);
    let output = program.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = home.read(CURSOR).unwrap();
    assert!(keys_in(&text, 2) == 5 && text.contains("tools-box"), "{text}");
}

#[test]
fn the_beginning_of_a_file_that_can_be_read_is_waited_for_too() {
    let home = Home::new();
    let table = |number: usize| {
        format!("[mcp_servers.s{number}]\ncommand = \"x\"\nenv = {{ KEY = \"secret-1-{number}\" }}\n")
    };
    home.write(CODEX, "model = \"m\"\n");
    let mut client = File::create(home.path(CODEX)).unwrap();
    client.write_all(table(1).as_bytes()).unwrap();
    let mut opens = Opens::of(&home.path(CODEX));
    let mut program = install(&home, "codex");
    for number in 2..=5 {
        let seen = opens.count;
        opens.wait_for(seen + 2, &mut program);
        client.write_all(table(number).as_bytes()).unwrap();
    }
    drop(client);
    let output = program.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = home.read(CODEX).unwrap();
    assert!(keys_in(&text, 1) == 5 && text.contains("tools-box"), "{text}");
}

/// The client truncates its file after the program has opened it so often, and writes it when the program has
/// exited.
#[test]
fn a_client_that_truncates_its_file_at_any_moment_loses_nothing() {
    for round in 0..24 {
        let home = Home::new();
        home.write(CURSOR, &servers(1));
        let mut opens = Opens::of(&home.path(CURSOR));
        let mut program = install(&home, "cursor");
        opens.wait_for(1 + round % 3, &mut program);
        let mut client = File::create(home.path(CURSOR)).unwrap();
        let output = program.wait_with_output().unwrap();
        client.write_all(servers(2).as_bytes()).unwrap();
        assert_eq!(home.read(CURSOR).unwrap(), servers(2), "round {round}: {output:?}");
        let kept: Vec<String> = home.files(".cursor").iter().map(|file| home.read(file).unwrap()).collect();
        assert!(kept.iter().all(|text| keys_in(text, 2) == 5 || keys_in(text, 1) == 5), "{kept:?}");
    }
}

/// The client replaces its file with another one, again and again.
#[test]
fn a_client_that_replaces_its_file_has_one_of_the_two() {
    for round in 0..24 {
        let home = Home::new();
        home.write(CURSOR, &servers(1));
        let mut opens = Opens::of(&home.path(CURSOR));
        let mut program = install(&home, "cursor");
        opens.wait_for(1 + round % 3, &mut program);
        home.write(".cursor/new", &servers(2));
        fs::rename(home.path(".cursor/new"), home.path(CURSOR)).unwrap();
        let output = program.wait_with_output().unwrap();
        let text = home.read(CURSOR).unwrap();
        let backups: Vec<String> =
            home.files(".cursor").iter().map(|file| home.read(file).unwrap()).collect();
        assert!(backups.iter().any(|text| keys_in(text, 2) == 5), "round {round}: {output:?}\n{text}");
    }
}

#[test]
fn a_file_that_has_lost_everything_since_its_last_backup_is_refused() {
    let home = Home::new();
    home.write(CURSOR, &servers(1));
    assert_eq!(home.run(&["install", "cursor", "-q"]).code, 0);
    home.write(CURSOR, "");
    let said = home.run(&["install", "cursor"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("is empty, and was not when") && said.err.contains("mcp.json.bak"), "{said:?}");
    assert_eq!(home.read(CURSOR).unwrap(), "");
    // To start over deliberately, the user removes the file.
    fs::remove_file(home.path(CURSOR)).unwrap();
    assert_eq!(home.run(&["install", "cursor", "-q"]).code, 0);
    // A file that never contained anything else loses nothing.
    home.write(CODEX, "");
    for command in ["install", "uninstall", "install"] {
        assert_eq!(home.run(&[command, "codex", "-q"]).code, 0, "{command}");
    }
}
