//! Exchanges with a terminal, as a page shows them.

use super::blocks::Block;
use crate::harness::Project;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs all exchanges of a page in the project made of its files. Returns the number of commands.
pub(crate) fn run(page: &Path, blocks: &[Block<'_>]) -> usize {
    let project = Project::new();
    let mut count = 0;
    for block in blocks {
        match (block.file, block.language) {
            (Some(file), _) if block.text.starts_with("#!") => project.write_script(file, block.text),
            (Some(file), _) => project.write(file, block.text),
            (None, "console") => count += exchange(page, block, &project),
            _ => {}
        }
    }
    count
}

fn exchange(page: &Path, block: &Block<'_>, project: &Project) -> usize {
    let mut commands: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix("$ "), line.strip_prefix("> "), commands.last_mut()) {
            (Some(command), ..) => commands.push((command.to_owned(), Vec::new())),
            (None, Some(more), Some((command, printed))) if printed.is_empty() => {
                command.push('\n');
                command.push_str(more);
            }
            (None, _, Some((_, printed))) => printed.push(line),
            (None, _, None) => panic!("{}:{}: a command comes first", page.display(), block.line),
        }
    }
    for (command, expected) in &commands {
        let printed = printed_by(command, project);
        let lines: Vec<&str> = printed.lines().collect();
        assert!(
            fits(expected, &lines),
            "{}:{}: `{command}` should print\n{}\nand prints\n{printed}",
            page.display(),
            block.line,
            expected.join("\n"),
        );
    }
    commands.len()
}

/// The output of a command, as on a terminal: both streams, without trailing blanks.
fn printed_by(command: &str, project: &Project) -> String {
    let home = project.path(".home");
    std::fs::create_dir_all(&home).expect("a home");
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(project.root())
        .env("PATH", search_path())
        .env("HOME", home)
        .env_remove("MCPBASH_PROJECT_ROOT")
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    let root = project.root().canonicalize().expect("a folder");
    let text = String::from_utf8_lossy(&output.stdout).replace(&*root.to_string_lossy(), "/path/to/project");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The environment of a user who has installed mcp-bash.
fn search_path() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-bash"));
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&own));
    std::env::join_paths(folders).expect("a search path")
}

/// Whether lines match, where `...` stands for any number of them.
fn fits(expected: &[&str], lines: &[&str]) -> bool {
    match (expected.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), None) => fits(rest, lines),
        (Some((&"...", rest)), Some((_, after))) => fits(rest, lines) || fits(expected, after),
        (Some((pattern, rest)), Some((line, after))) => line_fits(pattern, line) && fits(rest, after),
        _ => false,
    }
}

/// Whether a line matches, where `[..]` stands for anything.
fn line_fits(pattern: &str, line: &str) -> bool {
    let Some((before, after)) = pattern.split_once("[..]") else { return pattern == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| line_fits(after, &rest[at..]))
}

#[test]
fn patterns_match_only_the_expected_lines() {
    assert!(fits(&["a", "...", "z"], &["a", "b", "z"]) && fits(&["a", "...", "z"], &["a", "z"]));
    assert!(!fits(&["a", "...", "z"], &["a", "b"]) && !fits(&["a"], &["a", "b"]));
    assert!(line_fits("took [..] ms", "took 12 ms") && !line_fits("took [..] ms", "took 12 s"));
}
