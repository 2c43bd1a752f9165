//! Launcher checks: find tools that could not run on their other host.

use crate::running::processes::block_on;
use crate::scripts::Scripts;
use crate::surroundings::program::NotFound;
use mcp_bash_project::Catalog;

impl Scripts {
    /// Tools whose launcher is not known, not allowed or not installed, as messages for the operator. No host is asked.
    pub(crate) fn launcher_problems(&self, catalog: &Catalog) -> Vec<String> {
        let mut problems = Vec::new();
        for tool in catalog.tools.items() {
            let problem = match self.launcher_of(tool) {
                Ok(None) => continue,
                Err(error) => error.to_string(),
                Ok(Some(launcher)) => {
                    let program = launcher.program();
                    let found = block_on(self.surroundings.find_program(program, &catalog.paths));
                    if !matches!(found, Ok(Err(NotFound::Missing))) {
                        continue;
                    }
                    let (name, launcher) = (&tool.name, launcher.words());
                    format!(
                        "Tool '{name}' runs by the launcher {launcher}, which starts `{program}`: install it, or put its \
                         folder on the PATH of the server"
                    )
                }
            };
            let metadata = tool.script.strip_prefix(&catalog.paths.root).unwrap_or(&tool.script);
            problems.push(format!("{}: {problem}", metadata.display()));
        }
        problems
    }
}
