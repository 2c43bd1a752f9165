//! The tool of a new project.

use super::language::Language;
use super::{Draft, tool};
use mcp_bash_project::Paths;

/// Its name, and that of its folder.
pub(crate) const NAME: &str = "hello";

/// A tool that greets whom its argument `name` names.
pub(crate) fn hello(draft: &mut Draft, paths: &Paths) {
    tool::add_script(draft, paths, NAME, Language::Bash);
}
