//! Denial: what a sandbox probably denied to a process that failed, and the line of metadata that would allow it.
//!
//! The kernel does not report what it denies, so this is a guess from the end of the process's output: the path or the host
//! that it names, compared with the declaration. Only refusals of the proxy are certain.

use mcp_bash_proxy::Refusal;
use mcp_bash_sandbox::{Declaration, Network, Policy};
use std::path::{Path, PathBuf};

/// Messages that report a denied access.
const DENIED: [&str; 6] =
    ["Permission denied", "permission denied", "EACCES", "Operation not permitted", "EPERM", "AccessDenied"];

/// Messages that report an unreachable network.
const UNREACHED: [&str; 8] = [
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "ENETUNREACH",
    "ENOTFOUND",
    "EAI_AGAIN",
    "Couldn't connect to server",
];

/// What was denied to a process that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The message for the caller.
    pub told: String,
    /// The path that it could not even read, if a path was denied.
    pub unreadable: Option<PathBuf>,
}

/// A failed process.
pub(super) struct Failure<'a> {
    pub(super) policy: &'a Policy,
    pub(super) declaration: &'a Declaration,
    pub(super) project: &'a Path,
    /// Its working directory.
    pub(super) directory: &'a Path,
    pub(super) refusals: &'a [Refusal],
    pub(super) exit_code: Option<i32>,
    /// What it wrote.
    pub(super) said: &'a str,
}

impl Failure<'_> {
    pub(super) fn explain(&self) -> Option<Denial> {
        if let Some(refusal) = self.refusals.first() {
            return Some(Denial { told: format!("Denied by its sandbox: {refusal}."), unreadable: None });
        }
        let other = |guess: Option<String>| guess.map(|guess| (guess, None));
        let (guess, unreadable) =
            other(self.limit()).or_else(|| self.path()).or_else(|| other(self.host()))?;
        let told = format!(
            "Probably denied by its sandbox: {guess}. `mcp-bash call --trace-access` shows everything that it touches."
        );
        Some(Denial { told, unreadable })
    }

    /// The limit that the exit code or the output points to.
    fn limit(&self) -> Option<String> {
        let limits = &self.policy.limits;
        let of = |key: &str, what: &str| Some(format!("{what} (`{key}` in its `sandbox`)"));
        let says = |words: &[&str]| words.iter().any(|word| self.said.contains(word));
        match self.exit_code {
            Some(152) if limits.cpu_secs.is_some() => {
                return of("cpuSecs", "it used more processor time than it may");
            }
            Some(153) if limits.file_size.is_some() => {
                return of("fileSize", "it wrote a larger file than it may");
            }
            Some(159) => {
                return Some(
                    "it made a system call that no sandbox allows, such as those of 32-bit programs".into(),
                );
            }
            _ => {}
        }
        if limits.memory.is_some()
            && says(&["MemoryError", "Cannot allocate memory", "out of memory", "ENOMEM"])
        {
            return of("memory", "it needed more memory than it may have");
        }
        if says(&["fork: retry", "Resource temporarily unavailable", "can't start new thread", "EAGAIN"]) {
            return of("processes", "it started more processes and threads than it may have");
        }
        if limits.open_files.is_some() && says(&["Too many open files", "EMFILE"]) {
            return of("openFiles", "it opened more files than it may");
        }
        None
    }

    /// The denied path in words, and the path itself if it could not even be read.
    fn path(&self) -> Option<(String, Option<PathBuf>)> {
        let lines = self.said.lines().rev().filter(|line| DENIED.iter().any(|word| line.contains(word)));
        let mut named =
            lines.flat_map(|line| paths(line).map(|path| self.directory.join(path)).collect::<Vec<_>>());
        let (path, allowed, key) = named.find_map(|path| self.denied(path))?;
        let right = if key == "read" { "reading" } else { "writing to" };
        let line = self.line(key, &self.place(&allowed));
        let guess = format!("{right} {}; {line} in its metadata would allow it", path.display());
        Some((guess, (!self.policy.may_read(&allowed)).then_some(allowed)))
    }

    /// A denied path; the existing path that would have to be allowed; and the key that would allow it.
    fn denied(&self, path: PathBuf) -> Option<(PathBuf, PathBuf, &'static str)> {
        let exists = path.exists();
        let real = if exists { path.canonicalize() } else { path.parent()?.canonicalize() }.ok()?;
        if real == Path::new("/") {
            return None;
        }
        if exists && !self.policy.may_read(&real) {
            return Some((path, real, "read"));
        }
        (!self.policy.may_write(&real)).then_some((path, real, "write"))
    }

    /// The path as a declaration would name it.
    fn place(&self, path: &Path) -> String {
        let below = |folder: &Path, word: &str| {
            let rest = path.strip_prefix(folder).ok()?;
            Some(if rest.as_os_str().is_empty() {
                word.to_owned()
            } else {
                format!("{word}/{}", rest.display())
            })
        };
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let project = self.project.canonicalize().unwrap_or_else(|_| self.project.to_owned());
        below(&project, "project")
            .or_else(|| home.and_then(|home| below(&home, "~")))
            .unwrap_or_else(|| path.display().to_string())
    }

    /// The host that could not be reached.
    fn host(&self) -> Option<String> {
        let line = self.said.lines().rev().find(|line| UNREACHED.iter().any(|word| line.contains(word)))?;
        let what = match &self.policy.network {
            Network::All => return None,
            Network::None => "it has no network",
            Network::Hosts(_) => {
                "it reaches only the hosts of its list, through the proxy that its variables name"
            }
        };
        let host = words(line).find(|word| is_host(word)).unwrap_or("api.example.org");
        // `connect to localhost port 8080`.
        let port =
            words(line).skip_while(|word| *word != "port").nth(1).filter(|port| port.parse::<u16>().is_ok());
        let port = port.unwrap_or("443");
        Some(format!(
            "{what}; {} in its metadata would allow it",
            self.line("network", &format!("{host}:{port}"))
        ))
    }

    /// The line of metadata with one more entry.
    fn line(&self, key: &str, entry: &str) -> String {
        let known: Vec<String> = match key {
            "read" => match &self.declaration.read {
                Some(places) => places.iter().map(ToString::to_string).collect(),
                None => vec!["project".into(), "roots".into()],
            },
            "write" => match &self.declaration.write {
                Some(places) => places.iter().map(ToString::to_string).collect(),
                None => vec!["tmp".into()],
            },
            _ => match &self.declaration.network {
                Some(Network::Hosts(hosts)) => hosts.entries().collect(),
                _ => Vec::new(),
            },
        };
        let entries: Vec<String> =
            known.iter().map(String::as_str).chain([entry]).map(|entry| format!("\"{entry}\"")).collect();
        format!("`\"sandbox\": {{\"{key}\": [{}]}}`", entries.join(", "))
    }
}

/// The paths in a line about a denial: before its last colons, in quotes, or absolute.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let denial = DENIED.iter().filter_map(|word| line.find(word)).min().unwrap_or(line.len());
    // `tool: x: Permission denied`, `bash: line 1: x: Permission denied`.
    let before = line[..denial].trim_end().strip_suffix(':').and_then(|start| start.rsplit_once(": "));
    let before = before.map(|(_, word)| word);
    let quoted = |word: &&str| line.contains(&format!("'{word}'")) || line.contains(&format!("\"{word}\""));
    let others = words(line).filter(move |word| word.starts_with('/') || quoted(word));
    before.into_iter().map(|word| word.trim_matches(['\'', '"', '`', '‘', '’'])).chain(others)
}

/// The words of a line that may name something, without quotes and punctuation around them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let quoted = ['\'', '"', '`'].into_iter().flat_map(move |quote| line.split(quote).skip(1).step_by(2));
    let parts = line
        .split([' ', '\t'])
        .map(|word| word.trim_matches(['\'', '"', '`', ':', ',', ';', '(', ')', '‘', '’']));
    quoted.chain(parts).filter(|word| !word.is_empty())
}

fn is_host(word: &str) -> bool {
    let letters = |part: &str| {
        !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    if word == "localhost" {
        return true;
    }
    word.contains('.')
        && word.split('.').all(letters)
        && word.rsplit('.').next().is_some_and(|end| end.len() > 1)
        && !word.ends_with(|last: char| last.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_sandbox::{Limits, Mode};

    fn explained(said: &str, exit_code: Option<i32>, change: impl FnOnce(&mut Policy)) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        std::fs::write(project.join("notes"), "").unwrap();
        let mut policy = Policy {
            mode: Mode::On,
            read: vec![project.clone(), "/usr".into()],
            write: Vec::new(),
            has_tmp: true,
            network: Network::None,
            limits: Limits::default(),
        };
        change(&mut policy);
        let failure = Failure {
            policy: &policy,
            declaration: &Declaration::of(Mode::On),
            project: &project,
            directory: &project,
            refusals: &[],
            exit_code,
            said,
        };
        failure.explain().map(|denial| denial.told)
    }

    #[test]
    fn a_path_that_is_not_declared_is_named_with_the_line_that_would_allow_it() {
        for said in [
            "cat: /etc/hostname: Permission denied",
            "PermissionError: [Errno 13] Permission denied: '/etc/hostname'",
            "Error: EACCES: permission denied, open '/etc/hostname'",
        ] {
            let told = explained(said, Some(1), |_| {}).unwrap();
            assert!(told.starts_with("Probably denied by its sandbox: reading /etc/hostname;"), "{told}");
            assert!(
                told.contains(r#"`"sandbox": {"read": ["project", "roots", "/etc/hostname"]}`"#),
                "{told}"
            );
        }
        let told = explained("tool.sh: line 3: notes: Permission denied", Some(1), |_| {}).unwrap();
        assert!(told.contains(r#"`"sandbox": {"write": ["tmp", "project/notes"]}`"#), "{told}");
        let told = explained("touch: cannot touch 'new/file': Permission denied", Some(1), |_| {});
        assert_eq!(told, None, "its folder does not exist");
        let told = explained("tool.sh: line 3: out.txt: Permission denied", Some(1), |_| {}).unwrap();
        assert!(told.contains(r#"`"sandbox": {"write": ["tmp", "project"]}`"#), "{told}");
    }

    #[test]
    fn a_host_is_named_where_there_is_no_network() {
        let told = explained("curl: (6) Could not resolve host: api.github.com", Some(6), |_| {}).unwrap();
        assert!(told.contains(r#"`"sandbox": {"network": ["api.github.com:443"]}`"#), "{told}");
        let open = explained("curl: (6) Could not resolve host: api.github.com", Some(6), |policy| {
            policy.network = Network::All;
        });
        assert_eq!(open, None);
    }

    #[test]
    fn a_limit_is_named_by_its_signal() {
        let told = explained("", Some(152), |policy| policy.limits.cpu_secs = Some(1)).unwrap();
        assert!(told.contains("`cpuSecs`"), "{told}");
        assert_eq!(explained("", Some(152), |_| {}), None);
    }

    #[test]
    fn a_failure_of_another_kind_is_not_explained() {
        for said in [
            "",
            "no such file",
            "cat: /usr/bin/none: Permission denied at least",
            "fatal: Permission denied (publickey)",
        ] {
            let told = explained(said, Some(1), |policy| policy.write.push("/usr".into()));
            assert_eq!(told, None, "{said}");
        }
    }
}
