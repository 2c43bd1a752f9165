//! `hello`: the tool of a new project.

use super::function_file::FunctionLanguage;
use super::language::Language;
use super::{Draft, tool};
use mcp_bash_importing::Effect;
use mcp_bash_project::Paths;
use std::path::PathBuf;

/// Its name, and that of its folder or file.
pub(crate) const NAME: &str = "hello";

/// A tool that greets its argument `name`. Returns its file.
pub(crate) fn hello(draft: &mut Draft, paths: &Paths, language: Language) -> PathBuf {
    if let Some(functions) = FunctionLanguage::of(language) {
        functions.add(draft, paths, NAME, Effect::Reads);
        functions.file(paths, NAME)
    } else {
        tool::add_script(draft, paths, NAME, language, Effect::Reads);
        paths.tools.join(NAME)
    }
}
