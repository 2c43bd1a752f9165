//! WSL: a client on Windows starts a server that is inside a Linux distribution, with `wsl.exe`.

use crate::entry::Entry;
use crate::surroundings::{Surroundings, System};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The folder with the home folders of Windows users, where WSL mounts the first disk.
const USERS: &str = "/mnt/c/Users";

/// Folders beside them that are no user's.
const NO_USERS: [&str; 5] = ["All Users", "Default", "Default User", "Public", "defaultuser0"];

/// The program that runs a command inside a distribution.
const COMMAND: &str = "wsl.exe";

/// Windows around the distribution that this program runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    distribution: String,
    home: PathBuf,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum NoWindows {
    #[error("there is no Windows around this system: WSL_DISTRO_NAME, which WSL sets, is not set")]
    NotInWsl,
    #[error("no home folder of a Windows user is in {}; name it: --windows=FOLDER", .0.display())]
    NoHome(PathBuf),
    #[error("which user of Windows do you mean? Name the home folder: {}", choices(.0))]
    SeveralHomes(Vec<PathBuf>),
    #[error("{} is no home folder of a Windows user: it has no folder AppData", .0.display())]
    NotAHome(PathBuf),
}

fn choices(homes: &[PathBuf]) -> String {
    homes.iter().map(|home| format!("--windows={}", home.display())).collect::<Vec<_>>().join(" or ")
}

impl Windows {
    /// Finds Windows. `home` is the home folder of its user, as it is mounted here, if the caller knows it; `distribution`
    /// is the value of `WSL_DISTRO_NAME`.
    pub fn find(home: Option<PathBuf>, distribution: Option<OsString>) -> Result<Self, NoWindows> {
        Self::find_in(Path::new(USERS), home, distribution)
    }

    fn find_in(
        users: &Path,
        home: Option<PathBuf>,
        distribution: Option<OsString>,
    ) -> Result<Self, NoWindows> {
        let distribution = distribution.and_then(|name| name.into_string().ok());
        let distribution = distribution.filter(|name| !name.is_empty()).ok_or(NoWindows::NotInWsl)?;
        let home = match home {
            Some(home) if is_home(&home) => home,
            Some(home) => return Err(NoWindows::NotAHome(home)),
            None => only_home(users)?,
        };
        Ok(Self { distribution, home })
    }

    /// The surroundings of its clients.
    pub fn surroundings(&self) -> Surroundings {
        Surroundings::new(System::Windows, &self.home, |_| None)
    }

    /// An entry of this system, as a client on Windows starts it. `WSLENV` names the variables that reach the server.
    pub fn crossing(&self, entry: &Entry) -> Entry {
        let start = ["--distribution", &self.distribution, "--exec", &entry.command].map(str::to_owned);
        let mut env = entry.env.clone();
        let names: Vec<&str> =
            env.iter().map(|(name, _)| &**name).chain(entry.passed.iter().map(|name| &**name)).collect();
        if !names.is_empty() {
            env.push(("WSLENV".to_owned(), names.join(":")));
        }
        Entry {
            command: COMMAND.to_owned(),
            args: start.into_iter().chain(entry.args.iter().cloned()).collect(),
            env,
            ..entry.clone()
        }
    }
}

fn is_home(folder: &Path) -> bool {
    folder.join("AppData").is_dir()
}

fn only_home(users: &Path) -> Result<PathBuf, NoWindows> {
    let folders = users.read_dir().into_iter().flatten().flatten();
    let is_user = |name: &std::ffi::OsStr| !NO_USERS.iter().any(|other| name == *other);
    let mut homes: Vec<PathBuf> =
        folders.filter(|entry| is_user(&entry.file_name())).map(|entry| entry.path()).collect();
    homes.retain(|home| is_home(home));
    homes.sort();
    match homes.len() {
        0 => Err(NoWindows::NoHome(users.to_owned())),
        1 => Ok(homes.remove(0)),
        _ => Err(NoWindows::SeveralHomes(homes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(names: &[&str]) -> tempfile::TempDir {
        let users = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::create_dir_all(users.path().join(name).join("AppData")).unwrap();
        }
        users
    }

    #[test]
    fn the_only_user_of_windows_is_found() {
        let users = users(&["Public", "Default", "ann"]);
        std::fs::create_dir(users.path().join("empty")).unwrap();
        let found = Windows::find_in(users.path(), None, Some("Debian".into())).unwrap();
        assert_eq!(found.home, users.path().join("ann"));
        assert_eq!(found.surroundings().system, System::Windows);
    }

    #[test]
    fn what_is_missing_or_unclear_is_named() {
        let (none, two) = (users(&["Public"]), users(&["ann", "bob"]));
        let find = |users: &tempfile::TempDir, home: Option<PathBuf>, name: Option<&str>| {
            Windows::find_in(users.path(), home, name.map(Into::into)).unwrap_err()
        };
        assert_eq!(find(&two, None, None), NoWindows::NotInWsl);
        assert_eq!(find(&two, None, Some("")), NoWindows::NotInWsl);
        assert_eq!(find(&none, None, Some("Debian")), NoWindows::NoHome(none.path().to_owned()));
        let (ann, bob) = (two.path().join("ann"), two.path().join("bob"));
        let told = find(&two, None, Some("Debian")).to_string();
        assert!(
            told.ends_with(&format!("--windows={} or --windows={}", ann.display(), bob.display())),
            "{told}"
        );
        let nowhere = two.path().join("eve");
        assert_eq!(find(&two, Some(nowhere.clone()), Some("Debian")), NoWindows::NotAHome(nowhere));
        assert_eq!(Windows::find_in(two.path(), Some(bob.clone()), Some("Debian".into())).unwrap().home, bob);
    }

    #[test]
    fn an_entry_names_the_distribution_and_the_variables_that_cross() {
        let windows = Windows { distribution: "Debian".into(), home: "/mnt/c/Users/ann".into() };
        let entry = Entry {
            name: "tools".into(),
            command: "/usr/bin/mcp-bash".into(),
            args: vec!["--project-root".into(), "/home/ann/my tools".into()],
            env: vec![("TOKEN".into(), "abc".into())],
            passed: vec!["LANG".into()],
        };
        let crossing = windows.crossing(&entry);
        assert_eq!(crossing.command, "wsl.exe");
        assert_eq!(
            crossing.args,
            [
                "--distribution",
                "Debian",
                "--exec",
                "/usr/bin/mcp-bash",
                "--project-root",
                "/home/ann/my tools"
            ]
        );
        assert_eq!(crossing.env, [("TOKEN".into(), "abc".into()), ("WSLENV".into(), "TOKEN:LANG".into())]);
        assert!(crossing.points_at(Path::new("/home/ann/my tools")) && crossing.starts_mcp_bash());
        let without = windows.crossing(&Entry { env: Vec::new(), passed: Vec::new(), ..entry });
        assert_eq!(without.env, []);
    }
}
