//! Sandbox of a script, as people and clients see it: what it allows, its source, and what this machine enforces. Nothing is
//! prepared for a process here.

use super::resolve;
use mcp_bash_sandbox::{Declaration, InForce, Level, Limits, Mode, Network, Place, Unenforceable};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The source of the mode of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxSource {
    /// `MCPBASH_SANDBOX`.
    Operator,
    /// The default in `server.meta.json`.
    Project,
    /// The metadata of the script itself.
    Own,
    /// No source: there is no sandbox.
    Nothing,
}

impl SandboxSource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Project => "project",
            Self::Own => "own",
            Self::Nothing => "nothing",
        }
    }
}

#[derive(Debug, Clone)]
pub struct ScriptSandbox {
    /// The declaration in force. `None` if the script runs without a sandbox.
    declaration: Option<Declaration>,
    pub source: SandboxSource,
}

/// A place of a declaration, resolved on this machine.
#[derive(Debug, Clone)]
pub struct AllowedPlace {
    pub is_writable: bool,
    pub place: Place,
    /// Its paths: none for the temporary folder, or for roots that are not known.
    pub paths: Vec<PathBuf>,
    /// Why the script cannot run with this place.
    pub problem: Option<String>,
}

impl ScriptSandbox {
    pub(super) fn new(declaration: Option<Declaration>, source: SandboxSource) -> Self {
        Self { declaration, source }
    }

    pub fn mode(&self) -> Mode {
        self.declaration.as_ref().and_then(|declaration| declaration.mode).unwrap_or_default()
    }

    pub fn is_on(&self) -> bool {
        self.declaration.is_some()
    }

    pub fn network(&self) -> Network {
        self.declaration.as_ref().map_or(Network::All, |declaration| resolve::policy(declaration).network)
    }

    pub fn limits(&self) -> Limits {
        self.declaration
            .as_ref()
            .map_or_else(Limits::default, |declaration| resolve::policy(declaration).limits)
    }

    /// The places that it may use, besides the programs and libraries of the system.
    pub fn places(&self, project: &Path, roots: &[PathBuf]) -> Vec<AllowedPlace> {
        let Some(declaration) = &self.declaration else { return Vec::new() };
        let (read, write) = resolve::places(declaration);
        let home = resolve::user_home();
        let read = read.into_iter().map(|place| (false, place));
        let places = read.chain(write.into_iter().map(|place| (true, place)));
        let allowed = places.map(|(is_writable, place)| {
            let found = resolve::paths(&place, project, roots, home.as_deref());
            let problem = found.as_ref().err().map(ToString::to_string);
            AllowedPlace { is_writable, place, paths: found.unwrap_or_default(), problem }
        });
        allowed.collect()
    }

    /// What this machine enforces; an error if the script does not run here. `None` without a sandbox. The first use starts one
    /// or two processes, to probe this machine.
    pub fn enforcement(&self) -> Option<Result<InForce, Unenforceable>> {
        let plan = resolve::plan(&resolve::policy(self.declaration.as_ref()?));
        Some(plan.map(|plan| plan.in_force))
    }

    /// The description for clients, as a JSON object. `None` without a sandbox.
    pub fn summary(&self) -> Option<Value> {
        let mut summary = json!({ "mode": self.mode().name(), "network": network_value(&self.network()) });
        match self.enforcement()? {
            Ok(in_force) => {
                let (mut enforced, mut partly, mut not) = (Vec::new(), Map::new(), Map::new());
                for (aspect, level) in in_force.levels() {
                    match level {
                        Level::Enforced => enforced.push(aspect.name()),
                        Level::Partly(why) => drop(partly.insert(aspect.name().into(), json!(why))),
                        Level::Not(why) => drop(not.insert(aspect.name().into(), json!(why))),
                    }
                }
                summary["enforced"] = json!(enforced);
                if !partly.is_empty() {
                    summary["partlyEnforced"] = Value::Object(partly);
                }
                if !not.is_empty() {
                    summary["notEnforced"] = Value::Object(not);
                }
            }
            Err(refusal) => summary["refused"] = json!(refusal.to_string()),
        }
        Some(summary)
    }
}

/// The network as an author declares it.
pub(crate) fn network_value(network: &Network) -> Value {
    match network {
        Network::None => json!("none"),
        Network::All => json!("all"),
        Network::Hosts(hosts) => hosts.entries().collect(),
    }
}
