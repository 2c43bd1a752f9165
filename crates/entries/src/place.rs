//! File locations of clients, as people write them: `~/.cursor/mcp.json`, `$CODEX_HOME/config.toml`.
//!
//! Special prefixes: `~` is the home folder, `$CONFIG` is the folder in which the applications of the system keep their
//! configuration, `$XDG` is `XDG_CONFIG_HOME` or `~/.config` on every system. Any other `$NAME` is a variable by which
//! the user moves the file: if it is set, the file is there and nowhere else. A `*` in a part matches any text.

use crate::surroundings::{Surroundings, System};
use std::path::{Path, PathBuf};

/// A location, and the systems on which it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigLocation {
    pub on: On,
    pub path: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Any,
    Linux,
    MacOs,
    Windows,
    /// Linux and macOS.
    Unix,
}

impl On {
    fn counts(self, system: System) -> bool {
        match self {
            Self::Any => true,
            Self::Linux => system == System::Linux,
            Self::MacOs => system == System::MacOs,
            Self::Windows => system == System::Windows,
            Self::Unix => system != System::Windows,
        }
    }
}

/// The file among several locations: the one that a variable names, else the first that exists, else the first.
pub(crate) fn choose(places: &[ConfigLocation], surroundings: &Surroundings) -> Option<PathBuf> {
    let counting = || places.iter().filter(|place| place.on.counts(surroundings.system));
    let moved = counting().filter(|place| place.is_moved()).find_map(|place| place.at(surroundings));
    let usual = || counting().filter(|place| !place.is_moved()).filter_map(|place| place.at(surroundings));
    moved.or_else(|| usual().find(|path| path.symlink_metadata().is_ok())).or_else(|| usual().next())
}

/// Whether anything exists at one of the locations.
pub(crate) fn any_exists(places: &[ConfigLocation], surroundings: &Surroundings) -> bool {
    let counting = places.iter().filter(|place| place.on.counts(surroundings.system));
    counting.filter_map(|place| place.at(surroundings)).any(|path| path.exists())
}

impl ConfigLocation {
    /// Whether it applies only because the user set a variable.
    fn is_moved(self) -> bool {
        let first = self.path.split('/').next().unwrap_or_default();
        first.starts_with('$') && !["$CONFIG", "$XDG", "$LOCALAPPDATA"].contains(&first)
    }

    /// The path, unless a variable is missing or nothing matches its `*`.
    fn at(self, surroundings: &Surroundings) -> Option<PathBuf> {
        let (first, rest) = self.path.split_once('/').unwrap_or((self.path, ""));
        let start = match first {
            "~" => surroundings.home().to_owned(),
            "" => PathBuf::from("/"),
            "$CONFIG" => applications(surroundings),
            "$XDG" => xdg(surroundings),
            "$LOCALAPPDATA" => surroundings
                .variable("LOCALAPPDATA")
                .map_or_else(|| surroundings.home().join("AppData/Local"), PathBuf::from),
            name => surroundings.variable(name.trim_start_matches('$')).map(PathBuf::from)?,
        };
        rest.split('/').filter(|part| !part.is_empty()).try_fold(start, |folder, part| {
            if part.contains('*') { fitting(&folder, part) } else { Some(folder.join(part)) }
        })
    }
}

fn applications(surroundings: &Surroundings) -> PathBuf {
    match surroundings.system {
        System::Linux => xdg(surroundings),
        System::MacOs => surroundings.home().join("Library/Application Support"),
        System::Windows => surroundings
            .variable("APPDATA")
            .map_or_else(|| surroundings.home().join("AppData/Roaming"), PathBuf::from),
    }
}

fn xdg(surroundings: &Surroundings) -> PathBuf {
    // The XDG specification says that a relative path is ignored.
    let named = surroundings.variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| surroundings.home().join(".config"))
}

/// The first entry of a folder whose name matches the pattern, which has one `*`.
fn fitting(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let (start, end) = pattern.split_once('*')?;
    let names = folder.read_dir().ok()?.flatten().map(|entry| entry.file_name());
    let fits =
        |name: &&str| name.starts_with(start) && name.ends_with(end) && name.len() + 1 >= pattern.len();
    let mut names: Vec<String> =
        names.filter_map(|name| name.to_str().filter(fits).map(str::to_owned)).collect();
    names.sort();
    names.first().map(|name| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(system: System, variables: &'static [(&str, &str)]) -> Surroundings {
        Surroundings::new(system, "/home/ann", move |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    fn place(path: &'static str) -> ConfigLocation {
        ConfigLocation { on: On::Any, path }
    }

    #[test]
    fn beginnings_mean_what_they_do_on_each_system() {
        let at = |system, path| place(path).at(&surroundings(system, &[])).unwrap();
        assert_eq!(at(System::Linux, "~/.cursor/mcp.json"), Path::new("/home/ann/.cursor/mcp.json"));
        assert_eq!(at(System::Linux, "$CONFIG/Code"), Path::new("/home/ann/.config/Code"));
        assert_eq!(
            at(System::MacOs, "$CONFIG/Code"),
            Path::new("/home/ann/Library/Application Support/Code")
        );
        assert_eq!(at(System::MacOs, "$XDG/zed"), Path::new("/home/ann/.config/zed"));
        assert_eq!(at(System::Windows, "$CONFIG/Code"), Path::new("/home/ann/AppData/Roaming/Code"));
        let moved = surroundings(System::Linux, &[("XDG_CONFIG_HOME", "/x")]);
        assert_eq!(place("$CONFIG/Code").at(&moved).unwrap(), Path::new("/x/Code"));
        let relative = surroundings(System::Linux, &[("XDG_CONFIG_HOME", "x")]);
        assert_eq!(place("$XDG/zed").at(&relative).unwrap(), Path::new("/home/ann/.config/zed"));
    }

    #[test]
    fn a_variable_moves_the_file_even_where_the_usual_one_exists() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("second"), "").unwrap();
        let places = [place("$MOVED/file"), place("~/first"), place("~/second")];
        let usual = Surroundings::new(System::Linux, home.path(), |_| None);
        assert_eq!(choose(&places, &usual).unwrap(), home.path().join("second"));
        let moved =
            Surroundings::new(System::Linux, home.path(), |name| (name == "MOVED").then(|| "/m".into()));
        assert_eq!(choose(&places, &moved).unwrap(), Path::new("/m/file"));
        std::fs::remove_file(home.path().join("second")).unwrap();
        assert_eq!(choose(&places, &usual).unwrap(), home.path().join("first"));
    }

    #[test]
    fn a_star_stands_for_what_is_there() {
        let home = tempfile::tempdir().unwrap();
        let surroundings = Surroundings::new(System::Linux, home.path(), |_| None);
        let pattern = place("~/Packages/Claude_*/x.json");
        assert_eq!(pattern.at(&surroundings), None);
        std::fs::create_dir_all(home.path().join("Packages/Claude_pz8")).unwrap();
        assert_eq!(pattern.at(&surroundings).unwrap(), home.path().join("Packages/Claude_pz8/x.json"));
    }
}
