//! Languages whose functions can be tools, resources and prompts: one row each. A new language is a file here that holds
//! its row, and a line in the table; no other file asks which language a file is written in.

mod language;
mod node;
mod python;

pub use language::{Compilation, Language, LanguageHost, ProgramFolders, SdkVariable, Waiting};

use std::path::Path;

/// The table.
static LANGUAGES: [&Language; 2] = [&python::PYTHON, &node::NODE];

/// Programs of other scripts, by the extensions of their files.
const OTHER_INTERPRETERS: [(&str, &str); 8] = [
    ("sh", "bash"),
    ("bash", "bash"),
    ("zsh", "zsh"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("php", "php"),
    ("lua", "lua"),
    ("R", "Rscript"),
];

/// All languages.
pub fn languages() -> impl Iterator<Item = &'static Language> {
    LANGUAGES.into_iter()
}

/// The language of that name.
pub(crate) fn language_named(name: &str) -> Option<&'static Language> {
    languages().find(|language| language.name == name)
}

/// The language of functions in a file with that extension.
pub(crate) fn language_of_functions(file: &Path) -> Option<&'static Language> {
    let ending = file.extension()?.to_str()?;
    languages().find(|language| language.function_endings.contains(&ending))
}

/// The language of a script with that extension.
pub fn language_of_script(file: &Path) -> Option<&'static Language> {
    let ending = file.extension()?.to_str()?;
    languages().find(|language| language.script_endings.contains(&ending))
}

/// The program that usually runs files with that extension.
pub(crate) fn interpreter_by_ending(script: &Path) -> Option<&'static str> {
    let other = || {
        let ending = script.extension()?;
        OTHER_INTERPRETERS.into_iter().find(|(known, _)| ending == *known).map(|(_, interpreter)| interpreter)
    };
    language_of_script(script).map(|language| language.interpreter).or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_languages_share_a_name_or_an_extension() {
        let mut seen = HashSet::new();
        for language in languages() {
            assert!(seen.insert(language.name.to_owned()), "{}", language.name);
            for ending in language.function_endings {
                assert!(seen.insert(format!("function.{ending}")), "{ending}");
            }
            for ending in language.script_endings {
                assert!(seen.insert(format!("script.{ending}")), "{ending}");
                let is_other = OTHER_INTERPRETERS.iter().any(|(other, _)| other == ending);
                assert!(!is_other, "{ending} is in both tables");
            }
        }
    }

    #[test]
    fn scripts_of_any_language_have_an_interpreter_by_their_extension() {
        for (name, expected) in [
            ("a.py", Some("python3")),
            ("a.cjs", Some("node")),
            ("a.sh", Some("bash")),
            ("a.ts", None),
            ("py", None),
            (".py", None),
            ("a.", None),
        ] {
            assert_eq!(interpreter_by_ending(Path::new(name)), expected, "{name}");
        }
    }
}
