//! The tool of a new project.

use super::function_file::FunctionLanguage;
use super::language::Language;
use super::{Draft, tool};
use mcp_bash_project::Paths;

/// Its name, and that of its folder or file.
pub(crate) const NAME: &str = "hello";

/// A tool that greets whom its argument `name` names.
pub(crate) fn hello(draft: &mut Draft, paths: &Paths, language: Language) {
    match FunctionLanguage::of(language) {
        Some(functions) => functions.add(draft, paths, NAME),
        None => {
            tool::add_script(draft, paths, NAME, language);
        }
    }
}
