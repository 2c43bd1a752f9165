//! An OpenSSH server of the test: unprivileged, on loopback, with keys that the test makes.

use crate::harness::{TIMEOUT, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Debian has it in a folder that is not on the search path of users.
const SSHD: &str = "/usr/sbin/sshd";

pub(crate) struct Sshd {
    folder: TempDir,
    port: u16,
    process: Child,
}

impl Sshd {
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// A server with more lines in its configuration.
    pub(crate) fn with(lines: &str) -> Self {
        assert!(Path::new(SSHD).exists(), "{SSHD} is missing: install openssh-server");
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["host_key", "key", "other_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
                .arg(path(name))
                .status();
            assert!(made.unwrap().success());
        }
        fs::copy(path("key.pub"), path("authorized_keys")).unwrap();
        // The port may be taken by another process before sshd binds it, which would fail the test.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\n{lines}\n",
            path("host_key").display(),
            path("authorized_keys").display(),
        );
        fs::write(path("sshd_config"), config).unwrap();
        let host = fs::read_to_string(path("host_key.pub")).unwrap();
        fs::write(path("known_hosts"), format!("[127.0.0.1]:{port} {host}")).unwrap();
        let other = fs::read_to_string(path("other_key.pub")).unwrap();
        fs::write(path("wrong_hosts"), format!("[127.0.0.1]:{port} {other}")).unwrap();
        // Started by root, it wants this folder.
        let _ = fs::create_dir_all("/run/sshd");
        let process = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(path("sshd_config"))
            .stdin(Stdio::null())
            .stderr(fs::File::create(path("log")).unwrap())
            .spawn()
            .unwrap();
        let sshd = Self { folder, port, process };
        wait_until("sshd", || TcpStream::connect(("127.0.0.1", port)).ok());
        sshd
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The launcher of this server.
    pub(crate) fn launcher(&self) -> Value {
        self.launcher_with(&json!({}))
    }

    /// The same with other or more members.
    pub(crate) fn launcher_with(&self, more: &Value) -> Value {
        let mut launcher = json!({
            "use": "ssh",
            "host": "127.0.0.1",
            "options": self.options("known_hosts"),
        });
        for (key, value) in more.as_object().unwrap() {
            launcher[key] = value.clone();
        }
        launcher
    }

    /// The options of ssh for this server, with the keys of hosts in this file.
    pub(crate) fn options(&self, known_hosts: &str) -> Vec<String> {
        let (key, known) = (self.path("key"), self.path(known_hosts));
        let words = [
            "-F".to_owned(),
            "none".to_owned(),
            "-p".to_owned(),
            self.port.to_string(),
            "-i".to_owned(),
            key.display().to_string(),
            "-o".to_owned(),
            "IdentitiesOnly=yes".to_owned(),
            "-o".to_owned(),
            format!("UserKnownHostsFile={}", known.display()),
        ];
        words.into()
    }

    /// The processes that serve connections.
    pub(crate) fn connections(&self) -> Vec<u32> {
        let parent = self.process.id();
        let children =
            fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until no process on this machine has the text in its environment or on its command line.
pub(crate) fn wait_until_no_process_has(text: &str) {
    wait_until(&format!("the end of processes with {text} (at most {TIMEOUT:?})"), || {
        processes_with(text).is_empty().then_some(())
    });
}

pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let has = |path: PathBuf| {
        fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if has(entry.path().join("environ")) || has(entry.path().join("cmdline")) {
            found.push(pid);
        }
    }
    found
}
