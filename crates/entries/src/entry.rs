//! Server entry: its name, and the command that starts it.

use crate::launching::PackageRunner;
use std::path::Path;

/// One server, whatever form a client wants it in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    pub name: String,
    pub command: String,
    pub args: Vec<String>,
    /// Variables, in the order in which they are written.
    pub env: Vec<(String, String)>,
    /// Variables that the client passes on from its own environment, for clients with a list of them.
    pub passed: Vec<String>,
}

impl Entry {
    /// The folder that its command serves, if it names one.
    pub fn project_root(&self) -> Option<&str> {
        const FLAG: &str = "--project-root";
        let after = |index: usize| self.args.get(index + 1).map(String::as_str);
        let by_flag = self.args.iter().enumerate().find_map(|(index, word)| match word.strip_prefix(FLAG) {
            Some("") => after(index),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        });
        let by_variable = || {
            let found = self.env.iter().find(|(name, _)| name == "MCPBASH_PROJECT_ROOT");
            found.map(|(_, value)| value.as_str())
        };
        by_flag.or_else(by_variable)
    }

    /// Whether its command serves the project in `root`, in any spelling of the path.
    pub fn points_at(&self, root: &Path) -> bool {
        self.project_root().map(Path::new).is_some_and(|named| {
            named == root
                || named.canonicalize().is_ok_and(|named| root.canonicalize().is_ok_and(|root| named == root))
        })
    }

    /// Whether its command is called `mcp-bash`, in any folder, is a package runner that starts our package, or starts a
    /// program of our name inside WSL.
    pub fn starts_mcp_bash(&self) -> bool {
        let is_ours = |word: &String| Path::new(word).file_stem().is_some_and(|name| name == "mcp-bash");
        let is_inside_wsl = Path::new(&self.command).file_stem().is_some_and(|name| name == "wsl");
        self.runner().is_some() || is_ours(&self.command) || (is_inside_wsl && self.args.iter().any(is_ours))
    }

    /// The package runner that its command is, if that starts our package.
    pub fn runner(&self) -> Option<PackageRunner> {
        PackageRunner::of_command(&self.command, &self.args).map(|(runner, _)| runner)
    }

    /// Its arguments in two parts: those of a package runner, and those of our program.
    pub fn split_args(&self) -> (&[String], &[String]) {
        let of_runner = PackageRunner::of_command(&self.command, &self.args).map_or(0, |(_, count)| count);
        self.args.split_at(of_runner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_comes_from_the_flag_or_else_the_variable() {
        let entry = |args: &[&str], env: &[(&str, &str)]| Entry {
            args: args.iter().map(ToString::to_string).collect(),
            env: env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            ..Entry::default()
        };
        let variable = ("MCPBASH_PROJECT_ROOT", "/v");
        for (entry, root) in [
            (entry(&["--project-root", "/p"], &[variable]), Some("/p")),
            (entry(&["-v", "--project-root=/p"], &[]), Some("/p")),
            (entry(&["--project-rooty"], &[variable]), Some("/v")),
            (entry(&["--project-root"], &[]), None),
            (entry(&[], &[]), None),
        ] {
            assert_eq!(entry.project_root(), root, "{entry:?}");
            assert_eq!(entry.points_at(Path::new("/p")), root == Some("/p"));
        }
    }
}
