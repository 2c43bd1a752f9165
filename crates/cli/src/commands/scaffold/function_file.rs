//! Function file: a Python or JavaScript file whose function is a tool, and its test.

use super::hints::with_hints;
use super::language::Language;
use super::template::{Template, fill, template};
use super::{Draft, path_to_schemas};
use mcp_bash_importing::Effect;
use mcp_bash_project::Paths;
use std::path::PathBuf;

/// The folder in `tools/` that holds the tests of the files beside it.
const TESTS: &str = "tests";

/// Words that cannot name a function, in one language or the other, or beside the imports of its file.
const RESERVED: &str = "False None ToolError True and arguments as assert async await break case catch class const \
    continue debugger def default del delete do elif else enum eval except export extends false finally for from \
    function global if implements import in instanceof interface is lambda let new nonlocal not null or package \
    pass private progress protected public raise return static super switch this throw tool true try typeof var \
    void while with yield";

/// A language whose functions can be tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct FunctionLanguage {
    ending: &'static str,
    function: Template,
    /// The text before and after the name of a tool that differs from the name of its function.
    named: (&'static str, &'static str),
}

impl FunctionLanguage {
    /// `None` for a language in which tools are scripts.
    pub(super) fn of(language: Language) -> Option<Self> {
        match language {
            Language::Bash => None,
            Language::Python => Some(Self {
                ending: "py",
                function: template!("tool/function/function.py"),
                named: ("name=\"", "\", "),
            }),
            Language::Node => Some(Self {
                ending: "mjs",
                function: template!("tool/function/function.mjs"),
                named: ("    name: '", "',\n"),
            }),
        }
    }

    /// The file of a tool's function.
    pub(super) fn file(self, paths: &Paths, name: &str) -> PathBuf {
        paths.tools.join(format!("{}.{}", file_stem(name), self.ending))
    }

    /// The function of a tool, and its test.
    pub(super) fn add(self, draft: &mut Draft, paths: &Paths, name: &str, effect: Effect) {
        let function = function_name(name);
        let (before, after) = self.named;
        let named = if function == name { String::new() } else { format!("{before}{name}{after}") };
        let places = [("NAME", name), ("FUNCTION", &*function), ("NAMED", &*named)];
        draft.file(self.file(paths, name), with_hints(&fill(self.function, &places), effect));
        let tests = paths.tools.join(TESTS);
        let schemas = path_to_schemas(&paths.root, &tests);
        let test = fill(template!("tool/function/test.yaml"), &[("SCHEMAS", &*schemas)]);
        draft.file(tests.join(format!("{name}.yaml")), test);
    }
}

/// The function name for a tool's name, which has letters, digits, `_` and `-`.
fn function_name(name: &str) -> String {
    let function = name.replace('-', "_");
    if RESERVED.split(' ').any(|word| word == function) { format!("{function}_") } else { function }
}

/// A file name that other files of its language can import. Files that begin with `_` or `test_` are not served.
fn file_stem(name: &str) -> String {
    let stem = name.replace('-', "_");
    if stem.starts_with('_') || stem.starts_with("test_") { format!("tool_{stem}") } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_become_names_that_languages_take() {
        let names = ["report", "disk-usage", "import", "delete", "Name"].map(function_name);
        assert_eq!(names, ["report", "disk_usage", "import_", "delete_", "Name"]);
        let files = ["report", "disk-usage", "test_all", "test-all", "_x", "testing"].map(file_stem);
        assert_eq!(files, ["report", "disk_usage", "tool_test_all", "tool_test_all", "tool__x", "testing"]);
    }
}
