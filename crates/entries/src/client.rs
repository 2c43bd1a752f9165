//! Client: its names, its files, the form of its entries, and what users should know about it.

use crate::clients::CLIENTS;
use crate::place::{self, ConfigLocation};
use crate::remote::{Reference, RemoteShape};
use crate::replaces::Replaces;
use crate::shape::Shape;
use crate::surroundings::Surroundings;
use crate::variables::supply::Supply;
use mcp_bash_spelling::nearest_or_longer;
use thiserror::Error;

/// Whom an entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For one user, in all folders.
    User,
    /// For everyone who works in one folder: the file is in it.
    Project,
    /// For one user, in one folder.
    Local,
}

impl Scope {
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The format of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json(Dialect),
    Yaml,
    Toml,
}

/// What a client accepts beyond strict JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    pub comments: bool,
    pub trailing_commas: bool,
}

/// A file in which a client looks for servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientFile {
    pub scope: Scope,
    /// Its location: for [`Scope::Project`], below the folder of the project.
    pub places: &'static [ConfigLocation],
    /// The keys that lead to the servers. `*` stands for the folder that the client works in.
    pub keys: &'static [&'static str],
    pub format: Format,
    pub shape: Shape,
    /// The initial content of a new file.
    pub beginning: &'static str,
}

/// The links by which a client accepts an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkForm {
    Cursor,
    VsCode,
    VisualStudio,
    Raycast,
    Kiro,
    LmStudio,
}

/// Which server names a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Letters, digits, `_` and `-`.
    Plain,
    /// The same without `_`.
    WithoutUnderscore,
}

/// One row of the table of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Its name on the command line.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    pub files: &'static [ClientFile],
    /// Folders and files that exist only if the client is installed.
    pub signs: &'static [ConfigLocation],
    pub programs: &'static [&'static str],
    pub names: Names,
    /// Whether servers get the whole environment of the client.
    pub inherits_environment: bool,
    pub link: Option<LinkForm>,
    /// The form in which it accepts the address of a server, if it does.
    pub remote: Option<RemoteShape>,
    /// How its entries refer to a variable that holds a token; `None` if they hold the token itself.
    pub reference: Option<Reference>,
    /// Its own way to give a server a variable, if it has one.
    pub own_supply: Option<Supply>,
    /// Texts that it replaces in its entries.
    pub replaces: Replaces,
    /// What makes it notice a new entry.
    pub then: &'static str,
    /// Pitfalls for its users.
    pub notes: &'static [Note],
}

/// A pitfall for the users of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// The scope of the entries that it applies to; `None` for all.
    pub scope: Option<Scope>,
    pub text: &'static str,
}

#[derive(Debug, Error)]
#[error("there is no client `{name}`{} Known are {}", hint(*.nearest), known())]
pub struct UnknownClient {
    name: String,
    nearest: Option<&'static str>,
}

#[derive(Debug, Error)]
pub enum BadName {
    #[error("`{0}` is no name for a server: letters, digits, `-` and `_` make one, 64 at most")]
    Characters(String),
    #[error("{client} takes no `_` in the name of a server: use `{}`", .name.replace('_', "-"))]
    Underscore { name: String, client: &'static str },
}

fn hint(nearest: Option<&'static str>) -> String {
    nearest.map_or(".".to_owned(), |nearest| format!("; did you mean `{nearest}`?"))
}

fn known() -> String {
    CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().join(", ")
}

/// The client of a name, in any case and with or without `-`.
pub fn client(name: &str) -> Result<&'static Client, UnknownClient> {
    let plain = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
    let is_called = |known: &str| plain(known) == plain(name);
    let found = CLIENTS.iter().find(|client| {
        is_called(client.name)
            || is_called(client.title)
            || client.aliases.iter().any(|alias| is_called(alias))
    });
    found.ok_or_else(|| {
        let names: Vec<&str> = CLIENTS
            .iter()
            .flat_map(|client| [client.name].into_iter().chain(client.aliases.iter().copied()))
            .collect();
        UnknownClient { name: name.to_owned(), nearest: nearest_or_longer(name, &names) }
    })
}

/// The longest name of a server.
const LONGEST_NAME: usize = 64;

/// A text as a server name that every client accepts, as far as that is possible.
pub fn plain_name(text: &str) -> String {
    let letters = text.chars().map(|c| if is_plain(c) { c } else { '-' }).take(LONGEST_NAME);
    let name: String = letters.collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "mcp-bash".to_owned() } else { name.to_owned() }
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

impl Client {
    /// Whether there are signs that it is installed.
    pub fn is_installed(&self, surroundings: &Surroundings) -> bool {
        place::any_exists(self.signs, surroundings)
            || self.programs.iter().any(|program| surroundings.has_program(program))
    }

    /// The file of a scope.
    pub fn file(&self, scope: Scope) -> Option<&'static ClientFile> {
        self.files.iter().find(|file| file.scope == scope)
    }

    /// Adapts a generated name to this client.
    pub fn adapted_name(&self, name: &str) -> String {
        match self.names {
            Names::Plain => plain_name(name),
            Names::WithoutUnderscore => plain_name(&name.replace('_', "-")),
        }
    }

    /// The notes that apply to an entry of a scope.
    pub fn notes_for(&self, scope: Scope) -> impl Iterator<Item = &'static str> {
        let counts = move |note: &&Note| note.scope.is_none_or(|only| only == scope);
        self.notes.iter().filter(counts).map(|note| note.text)
    }

    /// A name that the user chose, if this client accepts it.
    pub fn checked_name(&self, name: &str) -> Result<String, BadName> {
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
            return Err(BadName::Characters(name.to_owned()));
        }
        if self.names == Names::WithoutUnderscore && name.contains('_') {
            return Err(BadName::Underscore { name: name.to_owned(), client: self.title });
        }
        Ok(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::System;
    use std::collections::HashSet;
    use std::path::Path;

    #[test]
    fn each_name_leads_to_one_client() {
        let mut names = HashSet::new();
        for known in CLIENTS {
            for name in [known.name].iter().chain(known.aliases) {
                assert!(names.insert(*name), "{name}");
                assert_eq!(client(name).unwrap().name, known.name);
            }
            assert_eq!(client(known.title).unwrap().name, known.name);
        }
        assert_eq!(client("VS Code").unwrap().name, "vscode");
        let told = client("curser").unwrap_err().to_string();
        assert!(
            told.starts_with(
                "there is no client `curser`; did you mean `cursor`? Known are claude-desktop, "
            ),
            "{told}"
        );
        assert!(client("").unwrap_err().to_string().starts_with("there is no client ``. Known are "));
    }

    #[test]
    fn each_file_has_a_place_on_the_systems_of_its_client() {
        for client in CLIENTS {
            for file in client.files.iter().filter(|file| file.scope != Scope::Project) {
                let places = [System::Linux, System::MacOs, System::Windows].map(|system| {
                    place::choose(file.places, &Surroundings::new(system, "/home/ann", |_| None))
                });
                let only_windows = client.name == "visual-studio";
                assert_eq!(
                    places.iter().flatten().count(),
                    if only_windows { 1 } else { 3 },
                    "{}",
                    client.name
                );
                assert!(places.iter().flatten().all(|path| path.starts_with("/home/ann")), "{places:?}");
            }
            for place in
                client.files.iter().filter(|file| file.scope == Scope::Project).flat_map(|file| file.places)
            {
                assert!(
                    Path::new(place.path).is_relative() && !place.path.starts_with(['~', '$']),
                    "{place:?}"
                );
            }
        }
    }

    #[test]
    fn names_are_made_to_fit_and_chosen_ones_are_judged() {
        assert_eq!(plain_name("My Tools (v1.2)!"), "My-Tools--v1-2");
        assert_eq!(plain_name("äöü"), "mcp-bash");
        assert_eq!(plain_name(&"x".repeat(100)).len(), 64);
        let gemini = client("gemini").unwrap();
        assert_eq!(gemini.adapted_name("my_tools"), "my-tools");
        assert_eq!(
            gemini.checked_name("my_tools").unwrap_err().to_string(),
            "Gemini CLI takes no `_` in the name of a server: use `my-tools`"
        );
        let cursor = client("cursor").unwrap();
        assert_eq!(cursor.checked_name("my_tools").unwrap(), "my_tools");
        for wrong in ["", "a b", "ä", "a.b", &"x".repeat(65)] {
            assert!(cursor.checked_name(wrong).is_err(), "{wrong}");
        }
    }
}
