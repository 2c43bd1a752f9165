//! Report sections: the part of a project that a finding belongs to.

use crate::report::finding::Finding;
use mcp_bash_project::Paths;
use std::path::Path;

/// The parts, in the order of the report. The first four are those that mcp-bash always had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Server,
    Tools,
    Prompts,
    Resources,
    Completions,
    Register,
    Settings,
}

impl Section {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Completions => "completions",
            Self::Register => "register",
            Self::Settings => "settings",
        }
    }

    /// A finding without a file is about a setting.
    pub(super) fn of_finding(finding: &Finding, paths: &Paths) -> Self {
        finding.file.as_deref().map_or(Self::Settings, |file| Self::of(file, paths))
    }

    pub(super) fn of(file: &Path, paths: &Paths) -> Self {
        let folders = [
            (&paths.tools, Self::Tools),
            (&paths.prompts, Self::Prompts),
            (&paths.resources, Self::Resources),
            (&paths.providers, Self::Resources),
            (&paths.completions, Self::Completions),
        ];
        if let Some((_, section)) = folders.into_iter().find(|(folder, _)| file.starts_with(folder)) {
            return section;
        }
        let registers = ["register.json", "register.sh"].iter().any(|name| file == paths.server.join(name));
        if registers { Self::Register } else { Self::Server }
    }
}
