//! Program of a tool without a script: looked up in the search path of scripts when the tool is called.

use crate::running::error::{Block, NoEnvironment, ScriptError};
use crate::running::processes::block_on;
use crate::surroundings::Surroundings;
use mcp_bash_project::trust::{self, Distrust, Start};
use mcp_bash_project::{Catalog, Execution, Paths, Tool};
use rustix::fs::{Access, access};
use std::path::Path;

/// Why a program cannot be run.
#[derive(Debug)]
pub(crate) enum NotFound {
    Missing,
    /// It is not trusted: another user could have written it.
    Distrusted(Distrust),
    /// No script can run at all.
    NoEnvironment(NoEnvironment),
}

impl NotFound {
    /// The error for the caller of the tool.
    pub(crate) fn told(self, tool: &str, program: &str) -> ScriptError {
        let tool = tool.to_owned();
        match self {
            Self::Missing => ScriptError::NoProgram { tool, program: program.to_owned() },
            Self::Distrusted(distrust) => ScriptError::Blocked { tool, why: Block::Script(distrust) },
            Self::NoEnvironment(why) => why.into(),
        }
    }
}

impl Surroundings {
    /// Finds a program: by its path, which is relative to the project, or by its name in the search path of scripts. A program
    /// in the project is checked like its scripts. For other programs, the owner of their folder is responsible, as for those
    /// that scripts call.
    pub(crate) async fn find_program(&self, program: &str, paths: &Paths) -> Result<Start, NotFound> {
        if program.contains('/') {
            let path = paths.root.join(program);
            return if path.is_file() { judged(&path, paths) } else { Err(NotFound::Missing) };
        }
        let environment = self.common_environment(paths).await.map_err(NotFound::NoEnvironment)?;
        let folders = environment.get("PATH").map(std::env::split_paths).into_iter().flatten();
        // A relative folder would depend on the working directory.
        let found = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(program));
        let found = found.into_iter().find(|path| is_program(path)).ok_or(NotFound::Missing)?;
        if found.starts_with(&paths.root) {
            return judged(&found, paths);
        }
        Ok(Start { program: found, arguments: Vec::new() })
    }

    /// The same for a call that may arrive before the search path is known: then it waits for that.
    pub(crate) async fn wait_for_program(&self, program: &str, paths: &Paths) -> Result<Start, NotFound> {
        // Checked before the search, because the path may become known meanwhile.
        let was_known = self.search_path.get().is_some();
        match self.find_program(program, paths).await {
            Err(NotFound::Missing) if !was_known => {
                self.search_path.wait().await;
                self.find_program(program, paths).await
            }
            found => found,
        }
    }

    /// Tools whose programs do not exist, as messages for the operator. Programs on other hosts are not checked.
    pub(crate) fn missing_programs(
        &self,
        catalog: &Catalog,
        is_elsewhere: impl Fn(&Tool, &str) -> bool,
    ) -> Vec<String> {
        let tools = catalog.tools.items().iter();
        let missing = tools.filter_map(|tool| {
            let Execution::Command { program, .. } = &tool.execution else { return None };
            if is_elsewhere(tool, program) {
                return None;
            }
            let not_found = block_on(self.find_program(program, &catalog.paths)).ok()?.err()?;
            // Reported once elsewhere, and not for each tool.
            if matches!(not_found, NotFound::NoEnvironment(_)) {
                return None;
            }
            let metadata = tool.script.strip_prefix(&catalog.paths.root).unwrap_or(&tool.script);
            Some(format!("{}: {}", metadata.display(), not_found.told(&tool.name, program)))
        });
        missing.collect()
    }
}

fn judged(path: &Path, paths: &Paths) -> Result<Start, NotFound> {
    trust::may_run(path, &paths.root).map_err(NotFound::Distrusted)
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}
