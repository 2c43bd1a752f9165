//! Package facts: what packages of a project say about it: `mcpb.conf`, `server.d/server.meta.json` and the catalog.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use mcp_bash_packaging::{About, Conf, PackagingError, SecretInput, Version, from_words};
use mcp_bash_project::{Identity, Paths, title_case};
use mcp_bash_secrets::Source;
use serde_json::{Map, Value};
use std::io;
use std::path::Path;

/// The longest file that describes a package, in bytes.
pub(crate) const LONGEST: u64 = 1024 * 1024;

/// What the author says, without the catalog.
pub(crate) struct WrittenFacts {
    pub(crate) about: About,
    /// `registry` of the metadata.
    pub(crate) registry: Map<String, Value>,
}

impl WrittenFacts {
    pub(crate) fn read(paths: &Paths) -> Result<Self, Error> {
        let conf = optional(&paths.root.join("mcpb.conf"))?.unwrap_or_default();
        let conf = Conf::parse(&conf).map_err(packaging_error)?;
        let file = paths.server.join("server.meta.json");
        let meta: Map<String, Value> = match optional(&file)? {
            None => Map::new(),
            Some(text) => serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
                Error::of_command(Exit::Failed, format!("{} cannot be used: {error}", file.display()))
            })?,
        };
        let registry = meta.get("registry").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self { about: About::read(&conf, &meta).map_err(packaging_error)?, registry })
    }

    /// The name of the package: as the user says, otherwise the author, otherwise the server.
    pub(crate) fn name(&self, flag: Option<&str>, identity: &Identity) -> Result<String, PackagingError> {
        let is_name =
            |name: &str| !name.is_empty() && name.len() <= 64 && from_words(name).eq_ignore_ascii_case(name);
        match flag {
            Some(name) if is_name(name) => Ok(name.to_owned()),
            Some(name) => Err(PackagingError::Name(name.to_owned())),
            None => {
                let words = self.about.name.as_deref().unwrap_or(&identity.name);
                let name = if is_name(words) { words.to_owned() } else { from_words(words) };
                if name.is_empty() { Err(PackagingError::Name(words.to_owned())) } else { Ok(name) }
            }
        }
    }

    pub(crate) fn version(&self, flag: Option<&str>, identity: &Identity) -> Result<Version, PackagingError> {
        let text = flag.or(self.about.version.as_deref()).unwrap_or(&identity.version);
        Version::parse(text).ok_or_else(|| PackagingError::Version(text.to_owned()))
    }
}

/// All facts.
pub(crate) struct PackageFacts {
    pub(crate) project: OpenProject,
    pub(crate) written: WrittenFacts,
    pub(crate) name: String,
    pub(crate) version: Version,
}

impl PackageFacts {
    pub(crate) fn read(common: &Common, name: Option<&str>, version: Option<&str>) -> Result<Self, Error> {
        let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true)?;
        let written = WrittenFacts::read(&project.catalog.paths)?;
        let identity = &project.catalog.identity;
        let name = written.name(name, identity).map_err(packaging_error)?;
        let version = written.version(version, identity).map_err(packaging_error)?;
        Ok(Self { project, written, name, version })
    }

    /// The secrets that reach the server in variables, and remarks about the others.
    pub(crate) fn secrets(&self) -> (Vec<SecretInput>, Vec<String>) {
        let (mut inputs, mut notes): (Vec<SecretInput>, Vec<String>) = (Vec::new(), Vec::new());
        let declared = &self.project.scripts.settings().project_secrets;
        for user in self.project.catalog.secret_users() {
            for need in user.needs.iter() {
                let variable = match declared.get(&need.name) {
                    None => &need.variable,
                    Some(Ok(Source::Variable(variable))) => variable,
                    Some(Ok(place)) => {
                        notes.push(format!(
                            "the secret `{}` is not asked for: server.meta.json says where it is: {place}",
                            need.name
                        ));
                        continue;
                    }
                    Some(Err(_)) => continue,
                };
                match inputs.iter_mut().find(|known| known.variable == *variable) {
                    Some(known) => known.users.push(user.what.clone()),
                    None => inputs.push(SecretInput {
                        name: need.name.clone(),
                        title: title_case(&need.name),
                        variable: variable.clone(),
                        users: vec![user.what.clone()],
                    }),
                }
            }
        }
        notes.dedup();
        (inputs, notes)
    }
}

/// The text of a file that may be absent.
pub(crate) fn optional(path: &Path) -> Result<Option<String>, Error> {
    match mcp_bash_files::read_text(path, LONGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read { path: path.to_owned(), source }),
    }
}

/// A mistake in what the author wrote.
pub(crate) fn packaging_error(error: PackagingError) -> Error {
    Error::of_command(Exit::Failed, error)
}
