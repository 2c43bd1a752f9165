//! Where scripts find their programs. A desktop client starts us with a bare `PATH`; a login shell knows a better one.

use mcp_bash_project::environment_without_secret;
use mcp_bash_server::Server;
use mcp_bash_settings::Settings;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long a login shell may take to tell.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What stands before and after the answer, since the files a login shell reads may print as well.
const MARK: &str = "<mcp-bash-path>";

/// The search path for scripts, and where it comes from.
pub(crate) struct SearchPath {
    pub(crate) path: OsString,
    pub(crate) source: &'static str,
}

impl SearchPath {
    /// What is known without asking anybody.
    pub(crate) fn at_once(settings: &Settings) -> Self {
        match &settings.search_path {
            Some(path) => Self { path: path.into(), source: "MCPBASH_PATH" },
            None => Self { path: std::env::var_os("PATH").unwrap_or_default(), source: "environment" },
        }
    }

    /// Asks the login shell too, where what is known is bare.
    pub(crate) fn resolve(settings: &Settings) -> Self {
        let known = Self::at_once(settings);
        if known.source == "MCPBASH_PATH" || !is_bare(&known.path) {
            return known;
        }
        match ask_login_shell() {
            Some(path) => Self { path: joined(&known.path, &path), source: "login shell" },
            None => known,
        }
    }
}

/// Finds the search path in the background, so that no answer waits for it.
pub(crate) fn resolve_for(server: &Arc<Server>) {
    let server = Arc::clone(server);
    // Without a thread the path is the one we were started with, which is what scripts have until then anyway.
    let _ = std::thread::Builder::new()
        .name("path".into())
        .spawn(move || server.set_search_path(SearchPath::resolve(server.settings()).path));
}

/// Whether a path has nothing but what every system has.
fn is_bare(path: &OsStr) -> bool {
    const BARE: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
    std::env::split_paths(path).all(|folder| BARE.iter().any(|bare| folder == Path::new(bare)))
}

/// The folders of both, each once, ours first.
fn joined(ours: &OsStr, theirs: &OsStr) -> OsString {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in std::env::split_paths(ours).chain(std::env::split_paths(theirs)) {
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).unwrap_or_else(|_| ours.to_owned())
}

fn ask_login_shell() -> Option<OsString> {
    let shell =
        std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute()).unwrap_or("/bin/sh".into());
    let mut child = Command::new(shell)
        .args(["-l", "-c", &format!("printf '%s%s%s' '{MARK}' \"$PATH\" '{MARK}'")])
        .env_clear()
        .envs(environment_without_secret())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let mut output = child.stdout.take()?;
    let (sender, answer) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.by_ref().take(1024 * 1024).read_to_end(&mut bytes);
        sender.send(bytes)
    });
    let bytes = answer.recv_timeout(TIMEOUT).ok();
    // A shell that hangs is not waited for, and what it started goes with it.
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
    between_marks(&bytes?)
}

fn between_marks(bytes: &[u8]) -> Option<OsString> {
    let text = OsStr::from_bytes(bytes).to_string_lossy();
    let start = text.find(MARK)? + MARK.len();
    let path = text[start..].split(MARK).next().filter(|path| !path.is_empty())?;
    Some(OsString::from_vec(path.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_path_is_told_from_one_that_somebody_made() {
        for bare in ["", "/usr/bin:/bin", "/usr/bin:/bin:/usr/sbin:/sbin"] {
            assert!(bare.is_empty() || is_bare(OsStr::new(bare)), "{bare}");
        }
        assert!(!is_bare(OsStr::new("/usr/bin:/opt/homebrew/bin")));
    }

    #[test]
    fn both_paths_are_joined_without_repetition() {
        let joined = joined(OsStr::new("/usr/bin:/bin"), OsStr::new("/opt/bin:/bin:relative:/usr/local/bin"));
        assert_eq!(joined, "/usr/bin:/bin:/opt/bin:/usr/local/bin");
    }

    #[test]
    fn what_a_profile_prints_is_not_taken_for_the_path() {
        assert_eq!(between_marks(b"hello <mcp-bash-path>/a:/b<mcp-bash-path> bye").unwrap(), "/a:/b");
        assert_eq!(between_marks(b"hello"), None);
    }
}
