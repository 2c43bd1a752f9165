//! A PostgreSQL server for test programs: a real one, as an unprivileged user, in a folder of its own. It ends with the test
//! program, however that ends.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A user without rights, for root: the server refuses to run as root.
const NOBODY: u32 = 65534;

/// How long the server may take to answer.
const LONGEST_START: Duration = Duration::from_secs(60);

pub struct Server {
    folder: TempDir,
    port: u16,
    options: Vec<String>,
    process: Option<Child>,
}

impl Server {
    /// Starts a server that listens at a socket in its folder only.
    pub fn start() -> Self {
        Self::start_with_port(5432, &["listen_addresses="])
    }

    /// Starts a server with a port and settings of its own, such as `ssl=on`.
    pub fn start_with_port(port: u16, options: &[&str]) -> Self {
        let folder =
            tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").expect("a folder for PostgreSQL");
        if is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("the folder belongs to the server");
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))
            .expect("the socket can be reached");
        let mut server =
            Self { folder, port, options: options.iter().map(ToString::to_string).collect(), process: None };
        let data = server.data();
        let made = program("initdb")
            .args([
                "--username=postgres",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C",
                "--pgdata",
            ])
            .arg(&data)
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        server.start_again();
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder of its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The address of the store in a schema of its own.
    pub fn url(&self, schema: &str) -> String {
        format!("postgres:///postgres?host={}&user=postgres&schema={schema}", self.folder.path().display())
    }

    /// Starts the server, which was stopped.
    pub fn start_again(&mut self) {
        let mut command = program("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.folder.path())
            .arg("-F")
            .arg("-p")
            .arg(self.port.to_string());
        for option in &self.options {
            command.args(["-c", option]);
        }
        let log = fs::File::options().append(true).create(true).open(self.folder.path().join("log"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("a log"));
        self.process = Some(spawn_from_lasting_thread(command));
        let until = Instant::now() + LONGEST_START;
        while !self.answers() {
            assert!(Instant::now() < until, "PostgreSQL does not answer: {}", self.log());
            sleep(Duration::from_millis(20));
        }
    }

    fn answers(&self) -> bool {
        let mut command = self.client("pg_isready");
        let asked = command.arg("-q").status();
        asked.is_ok_and(|status| status.success())
    }

    /// A program of PostgreSQL that connects as its owner.
    fn client(&self, name: &str) -> Command {
        let mut command = program(name);
        command.args(["-U", "postgres", "-p"]).arg(self.port.to_string()).arg("-h").arg(self.folder.path());
        command
    }

    /// Lets others in by this line of `pg_hba.conf` only, but the owner through the socket.
    pub fn allow_only(&mut self, line: &str) {
        let path = self.data().join("pg_hba.conf");
        fs::write(path, format!("local all postgres trust\n{line}\n")).expect("the rules are written");
        self.query("SELECT pg_reload_conf()");
        // The rules are in force when the server, which reads them on its own time, refuses the first stranger.
        let until = Instant::now() + LONGEST_START;
        while !self.query("SELECT count(*) FROM pg_hba_file_rules").starts_with('2') {
            assert!(Instant::now() < until, "the rules are not in force");
        }
    }

    /// What the server has written.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Lets every new connection believe that the server was started long ago. A server that has just come back is not yet
    /// trusted to know whose leases have ended.
    pub fn pretend_to_be_old(&self) {
        self.query(
            "CREATE SCHEMA long_ago;
             CREATE FUNCTION long_ago.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql STABLE
                 AS 'SELECT timestamptz ''2000-01-01''';
             GRANT USAGE ON SCHEMA long_ago TO PUBLIC;
             ALTER DATABASE postgres SET search_path = long_ago, pg_catalog, public",
        );
    }

    /// Stops the server at once, as a crash does: connections are cut.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            signal(&process, libc::SIGQUIT);
            let _ = process.wait();
        }
    }

    /// Runs a statement, and returns its rows as text.
    pub fn query(&self, statement: &str) -> String {
        let mut command = self.client("psql");
        command.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, "postgres"]);
        let said = command.output().expect("psql runs");
        assert!(said.status.success(), "{statement}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).trim_end().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A program of PostgreSQL, as a user that may run it.
fn program(name: &str) -> Command {
    let mut command = Command::new(find(name));
    command.current_dir("/tmp").env_remove("PGPASSWORD");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Starts a server that ends with this process. The kernel ends it with the *thread* that started it, so that is one that
/// never ends.
fn spawn_from_lasting_thread(mut command: Command) -> Child {
    type Job = (Command, Sender<Child>);
    static THREAD: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
    end_with_this_thread(&mut command);
    let thread = THREAD.get_or_init(|| {
        let (jobs, received) = channel::<Job>();
        std::thread::spawn(move || {
            for (mut command, started) in received {
                started.send(command.spawn().expect("PostgreSQL starts")).expect("the starter waits");
            }
        });
        Mutex::new(jobs)
    });
    let (sender, started) = channel();
    thread.lock().expect("nobody panics here").send((command, sender)).expect("the thread lasts");
    started.recv().expect("PostgreSQL starts")
}

#[cfg(target_os = "linux")]
fn end_with_this_thread(command: &mut Command) {
    // SAFETY: `prctl` is one system call, and allocates nothing.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(|| {
            // SIGQUIT ends PostgreSQL at once, with all of its processes.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGQUIT);
            Ok(())
        });
    }
}

/// Elsewhere a server outlives a test program that is killed.
#[cfg(not(target_os = "linux"))]
fn end_with_this_thread(_command: &mut Command) {}

/// Debian keeps the programs of each version in a folder that is not in PATH.
fn find(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin").join(name)).collect();
    found.retain(|path| path.exists());
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from(name))
}

fn is_root() -> bool {
    // SAFETY: it reads a number of this process.
    #[allow(unsafe_code)]
    let user = unsafe { libc::geteuid() };
    user == 0
}

fn signal(process: &Child, signal: i32) {
    let id = i32::try_from(process.id()).expect("a process id");
    // SAFETY: it sends a signal to a child that was not waited for.
    #[allow(unsafe_code)]
    unsafe {
        libc::kill(id, signal);
    }
}
