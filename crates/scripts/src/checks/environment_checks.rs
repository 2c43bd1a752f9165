//! Environment checks: find what would prevent scripts from running, or from finding what they need, before a client calls one.

use crate::running::processes::block_on;
use crate::scripts::Scripts;
use mcp_bash_harmless::tells_of_secret;
use mcp_bash_project::{Paths, Tool};
use mcp_bash_runner::Variables;
use std::path::PathBuf;

/// Problems with the environment of scripts.
#[derive(Debug, Default)]
pub struct EnvironmentProblems {
    /// Why no script runs at all.
    pub refusal: Option<String>,
    /// What scripts will lack.
    pub missing: Vec<String>,
}

impl Scripts {
    /// Checks the environment of scripts, and blocks until `server.d/env.sh` was sourced.
    pub fn environment_problems<'a>(
        &self,
        paths: &Paths,
        tools: impl IntoIterator<Item = &'a Tool>,
    ) -> EnvironmentProblems {
        let mut missing = self.surroundings.project_programs(paths).problems;
        missing.extend(self.missing_folders(paths));
        let naming: Vec<&Tool> =
            tools.into_iter().filter(|tool| !tool.options.variables.is_empty()).collect();
        let names_none = self.settings().project_variables.is_empty() && naming.is_empty();
        // Most projects have neither, and this saves a runtime at each start.
        if names_none && !has_env_file(paths) {
            return EnvironmentProblems { refusal: None, missing };
        }
        let refusal = match block_on(self.surroundings.exported(paths)) {
            Ok(Ok(exported)) => {
                missing.extend(self.missing_variables(&exported, paths, naming));
                None
            }
            Ok(Err(why)) => Some(why.to_string()),
            Err(error) => Some(error.to_string()),
        };
        EnvironmentProblems { refusal, missing }
    }

    /// Whether `server.d/env.sh` sets a variable to a value that is not in the environment of this process.
    pub fn sets_variable(&self, paths: &Paths, name: &str) -> bool {
        if !has_env_file(paths) {
            return false;
        }
        let exported = block_on(self.surroundings.exported(paths));
        let own = std::env::var_os(name).unwrap_or_default();
        exported.is_ok_and(|exported| {
            exported.is_ok_and(|exported| {
                exported.get(name).is_some_and(|value| !value.is_empty() && *value != *own)
            })
        })
    }

    fn missing_folders(&self, paths: &Paths) -> Vec<String> {
        let roots = self.settings().resources.roots.iter().flatten();
        let missing = roots.filter(|root| !paths.root.join(root).is_dir());
        missing
            .map(|root| {
                format!(
                    "MCP_RESOURCES_ROOTS names {}, which is no folder; nothing is read there",
                    root.display()
                )
            })
            .collect()
    }

    /// The variables that metadata names and nothing sets.
    fn missing_variables<'a>(
        &self,
        exported: &Variables,
        paths: &Paths,
        tools: impl IntoIterator<Item = &'a Tool>,
    ) -> Vec<String> {
        let is_set = |name: &String| exported.get(name).is_some_and(|value| !value.is_empty());
        let told = |file: PathBuf, name: &String| {
            let (file, next_step) = (file.display(), next_step(name));
            format!("{file} needs the variable {name}, which is not set; {next_step}")
        };
        let file = paths.server.join("server.meta.json");
        let of_all = self.settings().project_variables.iter().map(|name| (file.clone(), name));
        let tools = tools.into_iter();
        let of_tools =
            tools.flat_map(|tool| tool.options.variables.iter().map(|name| (tool.script.clone(), name)));
        let missing = of_all.chain(of_tools).filter(|(_, name)| !is_set(name));
        missing.map(|(file, name)| told(file, name)).collect()
    }
}

/// How to set a variable for a script. A secret in `server.d/env.sh` would be passed to every script.
fn next_step(name: &str) -> String {
    if tells_of_secret(name) {
        return format!(
            "write \"secrets\": {{\"{name}\": \"{name}\"}} in place of \"env\" into the metadata of the tools that need \
             it, and set it with `mcp-bash secret set {name}`"
        );
    }
    "set it in the configuration of your client (`env`), or export it in server.d/env.sh".to_owned()
}

/// Whether there is anything at the path of `env.sh`.
fn has_env_file(paths: &Paths) -> bool {
    paths.server.join("env.sh").symlink_metadata().is_ok()
}
