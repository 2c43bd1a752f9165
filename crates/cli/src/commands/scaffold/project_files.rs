//! Project files: the files that make a folder a project.

use crate::commands::scaffold::{Template, fill, path_to_schemas, template};
use mcp_bash_project::{Paths, title_case};
use mcp_bash_sandbox::Mode;

pub(crate) const GITIGNORE: &str = template!("project/gitignore").text;

/// `server.d/server.meta.json` for a server of that name, with a title made from `called` and a sandbox for its scripts.
pub(crate) fn metadata(paths: &Paths, name: &str, called: &str, sandbox: Mode) -> String {
    const METADATA: Template = template!("project/server.meta.json");
    let schemas = path_to_schemas(&paths.root, &paths.server);
    fill(
        METADATA,
        &[("NAME", name), ("TITLE", &title_case(called)), ("SCHEMAS", &schemas), ("SANDBOX", sandbox.name())],
    )
}

/// A folder's name as a server name that every client accepts: letters, digits and `-`, and short enough to leave room for
/// the names of tools.
pub(crate) fn server_name(folder: &str) -> String {
    const LONGEST: usize = 40;
    let words = folder.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    let name = name[..name.len().min(LONGEST)].trim_end_matches('-');
    if name.is_empty() { "my-server".to_owned() } else { name.to_owned() }
}

pub(crate) fn readme(name: &str) -> String {
    fill(template!("project/README.md"), &[("NAME", name)])
}

/// A `.gitignore` with our missing lines added; `None` if it has all of them.
pub(crate) fn completed_gitignore(written: &str) -> Option<String> {
    let has = |line: &str| written.lines().any(|known| known.trim() == line);
    let is_pattern = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let missing: Vec<&str> = GITIGNORE.lines().filter(is_pattern).filter(|line| !has(line)).collect();
    if missing.is_empty() {
        return None;
    }
    let before = written.trim_end_matches('\n');
    let gap = if before.is_empty() { "" } else { "\n\n" };
    Some(format!("{before}{gap}# mcp-bash\n{}\n", missing.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_any_name_gives_a_name_that_every_client_takes() {
        for (folder, name) in [
            ("my-project", "my-project"),
            ("My_Proj", "My-Proj"),
            ("My Dir.v2", "My-Dir-v2"),
            (".hid", "hid"),
            ("--x--", "x"),
            ("überall", "berall"),
            ("日本", "my-server"),
        ] {
            assert_eq!(server_name(folder), name);
        }
        assert_eq!(server_name(&"x".repeat(200)).len(), 40);
        assert_eq!(server_name(&format!("{}-y", "x".repeat(39))), "x".repeat(39));
    }

    #[test]
    fn only_missing_lines_are_added_to_gitignore() {
        assert_eq!(completed_gitignore(GITIGNORE), None);
        let completed = completed_gitignore("node_modules/\n.registry/\n*.log").unwrap();
        let added = "# mcp-bash\n.venv/\nvenv/\n__pycache__/\n.pytest_cache/\n.DS_Store\nThumbs.db\n";
        assert_eq!(completed, format!("node_modules/\n.registry/\n*.log\n\n{added}"));
        assert_eq!(completed_gitignore(&completed), None);
        let whole = completed_gitignore("").unwrap();
        assert!(
            whole.starts_with("# mcp-bash\n.registry/\n.venv/\n") && whole.contains("\n*.log\n"),
            "{whole}"
        );
    }
}
