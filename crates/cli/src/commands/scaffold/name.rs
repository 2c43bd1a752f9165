//! Valid names: those that every client accepts, and that no folder uses for something else.

use super::ScaffoldError;

/// The longest name that all clients accept.
const LONGEST: usize = 64;

/// Folders that are never searched for tools, prompts or resources.
const LEFT_OUT: [&str; 2] = ["node_modules", "__pycache__"];

/// Whether an entry may have this name, which will also be that of a file or a folder.
pub(crate) fn require_good_name(kind: &'static str, name: &str) -> Result<(), ScaffoldError> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let why = if name.is_empty() || name.len() > LONGEST || !name.bytes().all(is_known) {
        "use 1 to 64 letters, digits, `_` and `-`; some clients refuse others"
    } else if name.starts_with('-') {
        "it begins with `-`, so that commands take it for an option"
    } else if ["tool", "provider"].contains(&kind) && name.starts_with(|first: char| first.is_ascii_digit()) {
        "it begins with a digit, and Gemini refuses every request with such a tool in it"
    } else if LEFT_OUT.contains(&name) {
        "folders of that name are never searched"
    } else if kind == "prompt" && name == "ui" {
        "`ui/ui.meta.json` is where other servers describe the interface of a tool"
    } else if kind == "provider" && ["list", "instructions"].contains(&name) {
        "executables that provide tools are run with that word to be asked which"
    } else {
        return Ok(());
    };
    Err(ScaffoldError::Name { kind, name: name.to_owned(), why })
}

#[cfg(test)]
mod tests {
    use super::require_good_name;

    #[test]
    fn names_that_clients_and_folders_take_are_good() {
        for name in ["a", "disk-usage", "disk_usage", "_7zip", &"x".repeat(64)] {
            assert!(require_good_name("tool", name).is_ok(), "{name}");
        }
        let bad = [
            "",
            ".",
            "..",
            "a/b",
            "../a",
            "a b",
            "a.b",
            "é",
            "a\n",
            "-a",
            "--help",
            "node_modules",
            "__pycache__",
        ];
        for name in bad.into_iter().chain([&*"x".repeat(65)]) {
            assert!(require_good_name("tool", name).is_err(), "{name:?}");
        }
        assert!(require_good_name("server", "7zip").is_ok());
        assert!(require_good_name("tool", "list").is_ok());
        assert!(require_good_name("provider", "list").is_err());
        assert!(require_good_name("tool", "ui").is_ok());
        assert!(require_good_name("prompt", "ui").is_err());
    }
}
