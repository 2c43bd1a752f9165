//! Configuration file of a client on this machine: where it is, and where the servers are in it.

use crate::client::{Client, ClientFile, Scope};
use crate::edit::At;
use crate::entry::Entry;
use crate::place;
use crate::replaces::TAGS;
use crate::shape::Shape;
use crate::surroundings::Surroundings;
use serde_json::Value;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Clone)]
pub struct ConfigFile {
    pub client: &'static Client,
    pub scope: Scope,
    pub path: PathBuf,
    file: &'static ClientFile,
    /// The folder that the client works in, as its file names it.
    folder: String,
}

/// Why a client has no file to write to.
#[derive(Debug, Error)]
pub enum NoFile {
    #[error("{} has no file for servers: run `mcp-bash config --client {}` and {}", .0.title, .0.name, .0.then)]
    ByPasting(&'static Client),
    #[error("{} has no file of the scope `{}`; use `--scope {}`", .client.title, .scope.name(), .client.files[0].scope.name())]
    Scope { client: &'static Client, scope: Scope },
    #[error("{} does not run on this system", .0.title)]
    System(&'static Client),
}

impl ConfigFile {
    /// The file of a client for a scope. `folder` is the one that the client works in.
    pub fn find(
        client: &'static Client,
        scope: Scope,
        surroundings: &Surroundings,
        folder: &Path,
    ) -> Result<Self, NoFile> {
        if client.files.is_empty() {
            return Err(NoFile::ByPasting(client));
        }
        let file = client.file(scope).ok_or(NoFile::Scope { client, scope })?;
        let path = match scope {
            Scope::User | Scope::Local => place::choose(file.places, surroundings),
            Scope::Project => {
                let inside = |place: &place::ConfigLocation| folder.join(place.path);
                let exists = |path: &PathBuf| path.symlink_metadata().is_ok();
                file.places.iter().map(inside).find(exists).or_else(|| file.places.first().map(inside))
            }
        };
        let path = path.ok_or(NoFile::System(client))?;
        Ok(Self { client, scope, path, file, folder: folder.to_string_lossy().into_owned() })
    }

    /// All existing files of a client.
    pub fn existing(
        client: &'static Client,
        surroundings: &Surroundings,
        folder: &Path,
    ) -> impl Iterator<Item = Self> {
        let scopes = client.files.iter().map(|file| file.scope);
        let found = scopes.filter_map(move |scope| Self::find(client, scope, surroundings, folder).ok());
        found.filter(|file| file.path.symlink_metadata().is_ok())
    }

    /// Where the servers are in a file that holds `whole`.
    pub(crate) fn at(&self, whole: Option<&Value>) -> At {
        at(self.file, &self.folder, whole)
    }

    /// What is escaped in the strings that we write.
    pub(crate) fn escapes(&self) -> &'static [&'static str] {
        escapes(self.file)
    }

    pub(crate) fn shape(&self) -> Shape {
        self.file.shape
    }

    /// The initial content of a new file.
    pub(crate) fn beginning(&self) -> &'static str {
        self.file.beginning
    }

    /// The entry as a user would paste it into the file.
    pub fn snippet(&self, entry: &Entry) -> String {
        crate::snippet::of_file(self.file, &self.folder, entry)
    }
}

pub(crate) fn at(file: &ClientFile, folder: &str, whole: Option<&Value>) -> At {
    let keys = file.keys.iter().map(|key| if *key == "*" { folder } else { key });
    let mut keys: Vec<String> = keys.map(str::to_owned).collect();
    // Newer versions of opencode have one level more.
    let nested = whole.and_then(|whole| whole.get("mcp")?.get("servers"));
    if file.shape == Shape::OpenCode && nested.is_some_and(is_many) {
        keys.push("servers".into());
    }
    At { format: file.format, keys, is_list: file.shape.is_list(), escaped: &[] }
}

/// The prefixes that are escaped in the strings that we write, so that the client does not replace them.
pub(crate) fn escapes(file: &ClientFile) -> &'static [&'static str] {
    if file.shape == Shape::OpenCode { TAGS } else { &[] }
}

/// Whether an object holds servers, and is not one.
fn is_many(servers: &Value) -> bool {
    servers
        .as_object()
        .is_some_and(|members| !members.contains_key("type") && !members.contains_key("command"))
}
