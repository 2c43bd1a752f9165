//! What a project holds: an immutable value.

use crate::register::Registration;
use crate::{Diagnostic, Identity, Paths, RegistrationError, Tool, tools};
use std::collections::HashMap;

#[derive(Debug)]
pub struct Catalog {
    pub paths: Paths,
    pub identity: Identity,
    /// What the model is told about the server as a whole.
    pub instructions: Option<String>,
    /// In the order of their names, each of which stands once.
    pub tools: Vec<Tool>,
    /// What was skipped, and why.
    pub diagnostics: Vec<Diagnostic>,
    /// Why nothing can be served: a registration that is wrong is not worked around.
    pub failure: Option<RegistrationError>,
    places: HashMap<Box<str>, usize>,
}

/// The longest registration where nothing else is said.
pub const REGISTRATION_LIMIT: u64 = 1024 * 1024;

impl Catalog {
    /// Reads the project in `paths`. A registration of more than `registration_limit` bytes is refused.
    pub fn read(paths: &Paths, registration_limit: u64) -> Self {
        let mut diagnostics = Vec::new();
        let identity = Identity::read(&paths.root, &mut diagnostics);
        let instructions = std::fs::read_to_string(paths.server.join("server.instructions.md"))
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        let registration = Registration::read(paths, registration_limit, &mut diagnostics);
        let (registration, failure) = match registration {
            Ok(registration) => (registration.unwrap_or_default(), None),
            Err(error) => {
                let problem = format!("{error}; nothing is served until it is mended");
                diagnostics.push(Diagnostic::new(paths.server.join("register.json"), problem));
                (Registration { tools: Some(Vec::new()) }, Some(error))
            }
        };
        let tools = registration.tools.unwrap_or_else(|| tools::discover(&paths.tools, &mut diagnostics));
        let places =
            tools.iter().enumerate().map(|(place, tool)| (tool.name.as_str().into(), place)).collect();
        Self { paths: paths.clone(), identity, instructions, tools, diagnostics, failure, places }
    }

    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).map(|place| &self.tools[*place])
    }
}
