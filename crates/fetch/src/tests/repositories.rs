//! Repositories: the command lines of git, and a real repository behind a server of our own.

use super::server::{PUBLIC, Reply, Request, Server, TestNetwork, answer};
use crate::git::{GitCommand, GitUri};
use crate::{ErrorKind, FetchError, Git, GitPolicy, HostList, HostRules};
use mcp_bash_budget::Budget;
use mcp_bash_runner::{Runner, StateDir};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A runner with its private folder in `folder`.
fn runner(folder: &Path) -> Arc<Runner> {
    Arc::new(Runner::new(Arc::new(StateDir::new(folder.to_owned(), false))))
}

fn budget() -> Arc<Budget> {
    Budget::new(1 << 30, "NOTHING")
}

fn allowing(hosts: &str) -> GitPolicy {
    let hosts = HostRules { allow: HostList::parse(hosts).unwrap(), ..HostRules::default() };
    GitPolicy { enabled: true, hosts, ..GitPolicy::default() }
}

#[test]
fn the_parts_of_a_uri() {
    for (uri, repository, reference, path) in [
        ("git+https://h.example/a/b.git#main:docs/x.md", "https://h.example/a/b.git", "main", "docs/x.md"),
        ("git+https://h.example/a#README.md", "https://h.example/a", "HEAD", "README.md"),
        ("git+https://h.example/a#v1.0:/x", "https://h.example/a", "v1.0", "x"),
        ("git+https://H.example:8443/a#feature/x:a%20b:c", "https://h.example:8443/a", "feature/x", "a b:c"),
    ] {
        let parsed = GitUri::parse(uri).unwrap();
        assert_eq!(
            (&*parsed.repository.to_string(), &*parsed.reference, &*parsed.path),
            (repository, reference, path)
        );
    }
}

#[test]
fn uris_that_are_refused() {
    for uri in [
        "git://h.example/a#b",
        "git+ssh://h.example/a#b",
        "git+http://h.example/a#b",
        "git+file:///a#b",
        "https://h.example/a#b",
        "git+https://h.example/a",
        "git+https://h.example/a#",
        "git+https://h.example/a#main:",
        "git+https://h.example/a#main:/",
        "git+https://h.example/a#--upload-pack=x:y",
        "git+https://h.example/a#-x:y",
        "git+https://h.example/a#:y",
        "git+https://h.example/a#a..b:y",
        "git+https://h.example/a#a@{1}:y",
        "git+https://h.example/a#+a:y",
        "git+https://h.example/a#a%3Ab:y",
        "git+https://h.example/a#a b:y",
        "git+https://h.example/a#a%0Ab:y",
        "git+https://h.example/a#a^:y",
        "git+https://h.example/a#main:../x",
        "git+https://h.example/a#main:a/../../x",
        "git+https://h.example/a#main:a//x",
        "git+https://h.example/a#main:./x",
        "git+https://h.example/a#main:a%0AHEAD:b",
        "git+https://h.example/a#main:a%00",
        "git+https://h.example/a#main:%zz",
        "git+https://user@h.example/a#x",
        "git+https://user:pass@h.example/a#x",
        "git+https://127.1/a#x",
        "git+https://localhost/a#x",
        "git+https:///a#x",
    ] {
        let error = GitUri::parse(uri).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Refused), "{uri}: {error}");
    }
}

#[tokio::test]
async fn rules_come_before_git() {
    let uri = "git+https://h.example/a#x";
    let program = PathBuf::from("/nowhere/git");
    let folder = TempDir::new().unwrap();
    let private = TestNetwork::new(vec![vec![PUBLIC, "10.0.0.1".parse().unwrap()]], None);
    for (policy, words) in [
        (
            GitPolicy::default(),
            "repositories are not read; set `MCPBASH_ENABLE_GIT_PROVIDER=true` to read them",
        ),
        (allowing(""), "no host may be reached; name those that may in `MCPBASH_GIT_ALLOW_HOSTS`"),
        (
            allowing("b.example"),
            "the host `h.example` is not in `MCPBASH_GIT_ALLOW_HOSTS`; add it there if it may be reached",
        ),
        (
            allowing("h.example"),
            "`h.example` is at 10.0.0.1, which is private; only public addresses are reached",
        ),
    ] {
        let git = Git::with(
            GitPolicy { program: program.clone(), ..policy },
            runner(folder.path()),
            private.clone(),
        );
        assert_eq!(git.read(uri, &budget()).await.unwrap_err().to_string(), words);
    }
    let public = TestNetwork::new(vec![vec![PUBLIC]], None);
    let git = Git::with(GitPolicy { program, ..allowing("h.example") }, runner(folder.path()), public);
    let error = git.read(uri, &budget()).await.unwrap_err();
    assert!(error.to_string().starts_with("git cannot be used: `/nowhere/git`"), "{error}");
}

#[test]
fn what_git_is_told() {
    let uri = GitUri::parse("git+https://h.example/a.git#main:x").unwrap();
    let addresses = ["93.184.216.34:443".parse().unwrap(), "[2606:4700::1]:443".parse().unwrap()];
    let command = GitCommand::fetch(Path::new("git"), Path::new("/private"), &uri, &addresses);
    let arguments: Vec<_> = command.arguments.iter().map(|argument| argument.to_str().unwrap()).collect();
    let settings: Vec<_> = arguments.windows(2).filter(|pair| pair[0] == "-c").map(|pair| pair[1]).collect();
    for setting in [
        "http.curloptResolve=h.example:443:93.184.216.34,[2606:4700::1]",
        "http.followRedirects=false",
        "http.proxy=",
        "protocol.allow=never",
        "protocol.https.allow=always",
        "credential.helper=",
        "core.hooksPath=/dev/null",
        "submodule.recurse=false",
    ] {
        assert!(settings.contains(&setting), "{setting} in {settings:?}");
    }
    assert_eq!(arguments[arguments.len() - 3..], ["--", "https://h.example/a.git", "main"]);
    for (name, value) in [
        ("GIT_ALLOW_PROTOCOL", "https"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("HOME", "/private"),
    ] {
        assert!(command.environment.contains(&(name, value.into())), "{name}");
    }
}

/// Writes an executable script, and runs it with the argument `version`.
fn executable(path: &Path, script: &str) -> PathBuf {
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o755).open(path).unwrap();
    file.write_all(script.as_bytes()).unwrap();
    drop(file);
    // A process that another test has just started may hold it open for writing for a moment.
    while Command::new(path)
        .arg("version")
        .output()
        .is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy)
    {}
    path.to_owned()
}

/// A repository with a history, and a `git` that takes the public address for this machine's.
struct Origin {
    folder: TempDir,
    commit: String,
}

impl Origin {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let work = folder.path().join("work");
        fs::create_dir_all(work.join("docs")).unwrap();
        fs::write(work.join("docs/a b.md"), "# Hello").unwrap();
        fs::write(work.join("large"), vec![b'x'; 5000]).unwrap();
        symlink("docs/a b.md", work.join("inside")).unwrap();
        symlink("/etc/passwd", work.join("outside")).unwrap();
        symlink("../../etc/passwd", work.join("above")).unwrap();
        let git = |arguments: &[&str]| {
            let identity =
                ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
            let output =
                Command::new("git").args(identity).args(arguments).current_dir(&work).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "one"]);
        let commit = git(&["rev-parse", "HEAD"]);
        fs::write(work.join("docs/a b.md"), "# Hello again").unwrap();
        git(&["commit", "-q", "-a", "-m", "two"]);
        git(&["tag", "v2"]);
        git(&["clone", "-q", "--bare", ".", "../repo.git"]);
        git(&["--git-dir=../repo.git", "config", "uploadpack.allowAnySHA1InWant", "true"]);
        Self { folder, commit }
    }

    /// Answers like the program that comes with git for this.
    fn reply(root: &Path, request: &Request) -> Reply {
        let mut words = request.head.split_whitespace();
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut backend = Command::new("git")
            .args(["-c", "safe.directory=*", "http-backend"])
            .env("GIT_PROJECT_ROOT", root)
            .envs([
                ("GIT_HTTP_EXPORT_ALL", "1"),
                ("PATH_INFO", path),
                ("QUERY_STRING", query),
                ("REQUEST_METHOD", method),
            ])
            .env("CONTENT_TYPE", request.header("content-type").unwrap_or_default())
            .env("HTTP_CONTENT_ENCODING", request.header("content-encoding").unwrap_or_default())
            .env("HTTP_GIT_PROTOCOL", request.header("git-protocol").unwrap_or_default())
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        backend.stdin.take().unwrap().write_all(&request.body).unwrap();
        let output = backend.wait_with_output().unwrap().stdout;
        let text = String::from_utf8_lossy(&output);
        let status =
            text.strip_prefix("Status: ").and_then(|rest| rest.lines().next()).unwrap_or("200 OK").to_owned();
        Reply::Bytes([format!("HTTP/1.1 {status}\r\nConnection: close\r\n").as_bytes(), &output].concat())
    }

    /// Everything is real except where the public address leads and whose certificates are trusted.
    fn program(&self, server: &Server) -> PathBuf {
        let certificate = self.folder.path().join("certificate.pem");
        fs::write(&certificate, &server.certificate_pem).unwrap();
        let script = format!(
            "#!/bin/sh\nexport GIT_SSL_CAINFO='{}'\nfor a; do shift; set -- \"$@\" \"$(printf %s \"$a\" | \
             sed 's/:93[.]184[.]216[.]34/:127.0.0.1/')\"; done\nexec git \"$@\"\n",
            certificate.display()
        );
        executable(&self.folder.path().join("git"), &script)
    }

    async fn server(&self) -> Server {
        let root = self.folder.path().to_owned();
        Server::start("git.example", move |request| Self::reply(&root, request)).await
    }

    fn git(&self, server: &Server, mut policy: GitPolicy) -> Git {
        policy.hosts = allowing(&format!("git.example:{}", server.port)).hosts;
        policy.program = self.program(server);
        policy.scratch = self.scratch();
        Git::with(policy, runner(self.folder.path()), server.network())
    }

    fn scratch(&self) -> PathBuf {
        let scratch = self.folder.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        scratch
    }

    fn assert_nothing_is_left(&self) {
        assert_eq!(fs::read_dir(self.scratch()).unwrap().count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_a_real_repository() {
    let origin = Origin::new();
    let server = origin.server().await;
    let git = origin.git(&server, allowing("x"));
    let at = |fragment: &str| format!("git+https://git.example:{}/repo.git#{fragment}", server.port);
    for (fragment, content) in [
        ("docs/a%20b.md".to_owned(), "# Hello again"),
        ("main:docs/a b.md".to_owned(), "# Hello again"),
        ("v2:inside".to_owned(), "# Hello again"),
        (format!("{}:docs/a%20b.md", origin.commit), "# Hello"),
    ] {
        assert_eq!(
            git.read(&at(&fragment), &budget()).await.map(|bytes| String::from_utf8(bytes).unwrap()).unwrap(),
            content,
            "{fragment}"
        );
    }
    for (fragment, words) in [
        ("nothing", "`nothing` is not a file of the repository"),
        ("docs", "`docs` is not a file of the repository: it is a folder"),
        ("outside", "`outside` is not a file of the repository: it is a link that leads out"),
        ("above", "`above` is not a file of the repository: it is a link that leads out"),
    ] {
        let error = git.read(&at(fragment), &budget()).await.unwrap_err();
        assert_eq!(error.to_string(), words);
        assert_eq!(error.kind(), ErrorKind::Missing);
    }
    let error = git.read(&at("no-such-branch:x"), &budget()).await.unwrap_err();
    assert!(matches!(error, FetchError::Git { task: "fetch the repository", .. }), "{error}");

    let small_files = origin.git(&server, GitPolicy { max_bytes: 4999, ..allowing("x") });
    assert!(matches!(
        small_files.read(&at("large"), &budget()).await.unwrap_err(),
        FetchError::TooLarge { limit: 4999, .. }
    ));
    let small_repositories = origin.git(&server, GitPolicy { max_kb: 1, ..allowing("x") });
    let error = small_repositories.read(&at("large"), &budget()).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit: 1024, setting: "MCPBASH_GIT_MAX_KB" }), "{error}");
    origin.assert_nothing_is_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_is_not_led_elsewhere() {
    let origin = Origin::new();
    let root = origin.folder.path().to_owned();
    let server = Server::start("git.example", move |request| {
        let target = request.head.split_whitespace().nth(1).unwrap();
        match target.strip_prefix("/moved.git") {
            Some(rest) => answer("302 Found", &format!("Location: /repo.git{rest}\r\n"), ""),
            None => Origin::reply(&root, request),
        }
    })
    .await;
    let uri = format!("git+https://git.example:{}/moved.git#main:inside", server.port);
    let error = origin.git(&server, allowing("x")).read(&uri, &budget()).await.unwrap_err();
    assert!(matches!(error, FetchError::Git { .. }), "{error}");
    assert_eq!(server.heads().len(), 1, "where it was sent is where it would have found it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stalls_is_left() {
    let origin = Origin::new();
    let server = Server::start("git.example", |_| Reply::Stall(Vec::new())).await;
    let uri = format!("git+https://git.example:{}/repo.git#main:inside", server.port);
    let hasty = GitPolicy { timeout: Duration::from_millis(700), ..allowing("x") };
    let error = origin.git(&server, hasty).read(&uri, &budget()).await.unwrap_err();
    assert!(matches!(error, FetchError::TimedOut { .. }), "{error}");
    origin.assert_nothing_is_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_dropped_takes_git_with_it() {
    let origin = Origin::new();
    let server = Server::start("git.example", |_| Reply::Stall(Vec::new())).await;
    let uri = format!("git+https://git.example:{}/repo.git#main:inside", server.port);
    let git = origin.git(&server, allowing("x"));
    let reading = tokio::spawn(async move { git.read(&uri, &budget()).await });
    server.arrival().await;
    reading.abort();
    assert!(reading.await.unwrap_err().is_cancelled());
    // Not only git is gone, but also the part of it that was connected.
    server.departure().await;
    origin.assert_nothing_is_left();
}

/// It has left the process group of git and the session, and nothing reports it.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_processes_of_git_are_killed() {
    let folder = TempDir::new().unwrap();
    let program = executable(
        &folder.path().join("git"),
        "#!/bin/sh\n[ \"$1\" = version ] || [ -e ../left ] && exit\n(setsid sh -c 'echo $$ >left; exec sleep 1000' <&- >&- 2>&- &)\n\
         while [ ! -s left ]; do :; done\ncp left ..\necho git version 2.50.0\n",
    );
    let policy = GitPolicy { program, scratch: folder.path().to_owned(), ..allowing("h.example") };
    let network = TestNetwork::new(vec![vec![PUBLIC]], None);
    let git = Git::with(policy, runner(folder.path()), network);
    let error = git.read("git+https://h.example/a#x", &budget()).await.unwrap_err();
    assert!(matches!(error, FetchError::NotInRepository { .. }), "{error}");
    let left = fs::read_to_string(folder.path().join("left")).unwrap().trim().parse().unwrap();
    let left = rustix::process::Pid::from_raw(left).unwrap();
    assert_eq!(rustix::process::test_kill_process(left), Err(rustix::io::Errno::SRCH));
}
