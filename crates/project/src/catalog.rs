//! What a project holds: an immutable value.

use crate::register::Registration;
use crate::registry::{self, Known};
use crate::stamp::Stamps;
use crate::tools::{Found, discover, discover_part};
use crate::{Diagnostic, Identity, Paths, RegistryError, Tool, hook};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub struct Catalog {
    pub paths: Paths,
    pub identity: Identity,
    /// What the model is told about the server as a whole.
    pub instructions: Option<String>,
    /// In the order of their names, each of which stands once.
    pub tools: Vec<Arc<Tool>>,
    /// What was skipped, and why.
    pub diagnostics: Vec<Diagnostic>,
    /// Why nothing can be served: a registration that is wrong is not worked around.
    pub failure: Option<String>,
    places: HashMap<Box<str>, usize>,
    stamps: HashMap<String, Stamps>,
    hash: OnceLock<String>,
    /// Whether the registry on the disk says the same.
    is_registered: bool,
}

/// How a project is read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The longest `register.json`, in bytes.
    pub registration_limit: u64,
    /// The largest registry, in bytes.
    pub registry_limit: usize,
    /// Whether the registry is believed without looking at the project.
    pub static_registry: bool,
    /// Whether `server.d/register.sh` may run.
    pub hooks: bool,
    /// The only part of the tools folder that is looked at; the rest is as the registry has it.
    pub only: Option<PathBuf>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            registration_limit: 1024 * 1024,
            registry_limit: 100 * 1024 * 1024,
            static_registry: false,
            hooks: false,
            only: None,
        }
    }
}

impl Catalog {
    /// Reads the project in `paths`, starting from what its registry knows.
    pub fn read(paths: &Paths, reading: &Reading) -> Self {
        if reading.static_registry
            && let Some(tools) = registry::load_tools(paths, reading.registry_limit)
        {
            let tools = tools.into_iter().map(Arc::new).collect();
            return Self::assemble(paths, reading, |_| Found {
                tools,
                stamps: HashMap::new(),
                is_known: true,
            });
        }
        let known = registry::load(paths, reading.registry_limit);
        Self::assemble(paths, reading, |diagnostics| match &reading.only {
            None => discover(&paths.tools, &known, diagnostics),
            Some(part) => discover_part(part, &paths.tools, known, diagnostics),
        })
    }

    /// Reads the project again, as far as it changed.
    #[must_use]
    pub fn read_again(&self, reading: &Reading) -> Self {
        let known: Known = self
            .tools
            .iter()
            .filter_map(|tool| Some((tool.path.clone(), (Arc::clone(tool), *self.stamps.get(&tool.path)?))))
            .collect();
        let again = Self::assemble(&self.paths, reading, |diagnostics| {
            discover(&self.paths.tools, &known, diagnostics)
        });
        Self { is_registered: again.is_registered && self.is_registered, ..again }
    }

    fn assemble(
        paths: &Paths,
        reading: &Reading,
        search: impl FnOnce(&mut Vec<Diagnostic>) -> Found,
    ) -> Self {
        let mut diagnostics = Vec::new();
        let identity = Identity::read(&paths.root, &mut diagnostics);
        let instructions = std::fs::read_to_string(paths.server.join("server.instructions.md"))
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        let (registration, failure) = match register(paths, reading, &mut diagnostics) {
            Ok(registration) => (registration, None),
            Err((file, problem)) => {
                let remedy = format!("{problem}; nothing is served until it is mended");
                diagnostics.push(Diagnostic::new(paths.server.join(file), remedy));
                (Registration { tools: Some(Vec::new()) }, Some(format!("server.d/{file} {problem}")))
            }
        };
        let found = match registration.tools {
            Some(tools) => Found { tools, stamps: HashMap::new(), is_known: false },
            None => search(&mut diagnostics),
        };
        let places =
            found.tools.iter().enumerate().map(|(place, tool)| (tool.name.as_str().into(), place)).collect();
        Self {
            paths: paths.clone(),
            identity,
            instructions,
            tools: found.tools,
            diagnostics,
            failure,
            places,
            stamps: found.stamps,
            hash: OnceLock::new(),
            is_registered: found.is_known,
        }
    }

    /// Where in [`Catalog::tools`] the tool of that name stands.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Changes when the tools do. Worked out when it is first asked for, since most servers start and end without.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| registry::hash(&self.tools))
    }

    /// Writes the registry to the disk, unless it is there already.
    pub fn store(&self, reading: &Reading) -> Result<(), RegistryError> {
        if self.is_registered {
            return Ok(());
        }
        registry::store(&self.paths, &self.tools, self.hash(), &self.stamps, reading.registry_limit)
    }
}

/// What the project registers itself: with `register.json`, else with `register.sh` where that is allowed. A file that
/// is wrong is named with what is wrong about it, and is no reason to look at the other.
fn register(
    paths: &Paths,
    reading: &Reading,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Registration, (&'static str, String)> {
    const JSON: &str = "register.json";
    const HOOK: &str = "register.sh";
    let limit = reading.registration_limit;
    let written = Registration::read(paths, limit, diagnostics).map_err(|error| (JSON, error.to_string()))?;
    if let Some(registration) = written {
        return Ok(registration);
    }
    if !reading.hooks || reading.static_registry {
        return Ok(Registration::default());
    }
    let Some(registered) = hook::run(paths, limit).map_err(|error| (HOOK, error.to_string()))? else {
        return Ok(Registration::default());
    };
    Registration::hooked(&registered, paths, diagnostics).map_err(|error| (HOOK, error.to_string()))
}
