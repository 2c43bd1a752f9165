//! Surroundings: what decides where a client keeps its files: the system, the home folder, and environment variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A system that clients run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Linux,
    MacOs,
    Windows,
}

/// Looks up an environment variable.
type Variable = dyn Fn(&str) -> Option<OsString>;

/// The surroundings of a user whose clients are looked for.
pub struct Surroundings {
    pub system: System,
    home: PathBuf,
    variable: Box<Variable>,
}

impl Surroundings {
    /// Those of this process; `None` if the home folder is unknown.
    pub fn of_this_process() -> Option<Self> {
        let system = match std::env::consts::OS {
            "macos" => System::MacOs,
            "windows" => System::Windows,
            _ => System::Linux,
        };
        let home = std::env::home_dir().filter(|home| home.is_absolute())?;
        Some(Self::new(system, home, |name| std::env::var_os(name)))
    }

    pub fn new(
        system: System,
        home: impl Into<PathBuf>,
        variable: impl Fn(&str) -> Option<OsString> + 'static,
    ) -> Self {
        Self { system, home: home.into(), variable: Box::new(variable) }
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Whether a program is found in the folders of `PATH`.
    pub(crate) fn has_program(&self, name: &str) -> bool {
        let path = self.variable("PATH").unwrap_or_default();
        let file = if self.system == System::Windows { format!("{name}.exe") } else { name.to_owned() };
        std::env::split_paths(&path).any(|folder| folder.join(&file).is_file())
    }
}
