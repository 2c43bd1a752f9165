//! The program of a tool that has no script: found where scripts find theirs, when the tool is called.

use crate::running::error::{Block, NoEnvironment, ScriptError};
use crate::running::processes::block_on;
use crate::surroundings::Surroundings;
use mcp_bash_project::trust::{self, Distrust, Start};
use mcp_bash_project::{Catalog, Execution, Paths};
use rustix::fs::{Access, access};
use std::path::Path;

/// Why a program cannot be run.
#[derive(Debug)]
pub(crate) enum NotFound {
    Missing,
    /// Others could have written it.
    Distrusted(Distrust),
    /// Nothing is run at all.
    NoEnvironment(NoEnvironment),
}

impl NotFound {
    /// What whoever called the tool is told.
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
    /// Finds a program: by its path, which is relative to the project, or by its name on the PATH of scripts. What is part of the
    /// project is judged as its scripts are. For other programs their folder's owner answers, as for those that scripts call.
    pub(crate) async fn find_program(&self, program: &str, paths: &Paths) -> Result<Start, NotFound> {
        if program.contains('/') {
            let path = paths.root.join(program);
            return if path.is_file() { judged(&path, paths) } else { Err(NotFound::Missing) };
        }
        let environment = self.common_environment(paths).await.map_err(NotFound::NoEnvironment)?;
        let folders = environment.get("PATH").map(std::env::split_paths).into_iter().flatten();
        // A relative folder would mean another one in each working directory.
        let found = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(program));
        let found = found.into_iter().find(|path| is_program(path)).ok_or(NotFound::Missing)?;
        if found.starts_with(&paths.root) {
            return judged(&found, paths);
        }
        Ok(Start { program: found, arguments: Vec::new() })
    }

    /// The same for a call that comes before it is known where programs are found.
    pub(crate) async fn wait_for_program(&self, program: &str, paths: &Paths) -> Result<Start, NotFound> {
        // Asked before the look: the path may become known while it goes on.
        let was_known = self.search_path.get().is_some();
        match self.find_program(program, paths).await {
            Err(NotFound::Missing) if !was_known => {
                self.search_path.wait().await;
                self.find_program(program, paths).await
            }
            found => found,
        }
    }

    /// What is wrong with tools whose programs are not there, in words for whoever runs the server.
    pub(crate) fn missing_programs(&self, catalog: &Catalog) -> Vec<String> {
        let tools = catalog.tools.items().iter();
        let missing = tools.filter_map(|tool| {
            let Execution::Command { program, .. } = &tool.execution else { return None };
            let not_found = block_on(self.find_program(program, &catalog.paths)).ok()?.err()?;
            // That nothing is run is said once, and not for each tool.
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
