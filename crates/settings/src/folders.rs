//! Project folders: where the parts of a project are.

use crate::reader::Reader;
use crate::table;
use std::path::PathBuf;

/// The folders of a project: absolute, or relative to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFolders {
    pub tools: PathBuf,
    pub resources: PathBuf,
    pub prompts: PathBuf,
    pub completions: PathBuf,
    pub providers: PathBuf,
    pub server: PathBuf,
    pub registry: PathBuf,
}

impl ProjectFolders {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        Self {
            tools: reader.value(&table::TOOLS_DIR),
            resources: reader.value(&table::RESOURCES_DIR),
            prompts: reader.value(&table::PROMPTS_DIR),
            completions: reader.value(&table::COMPLETIONS_DIR),
            providers: reader.value(&table::PROVIDERS_DIR),
            server: reader.value(&table::SERVER_DIR),
            registry: reader.value(&table::REGISTRY_DIR),
        }
    }
}
