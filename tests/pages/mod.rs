//! The documentation is true: every link works, JSON and bash blocks are valid, and each terminal exchange
//! happens as shown.
//!
//! In a page, a block whose language is followed by a path (` ```sh tools/hello/tool.sh`) is a file of the
//! page's project, and a `console` block is run in that project: lines after `$ ` are commands, the others
//! their output. There `[..]` stands for anything within a line, and a line `...` for any number of lines.

mod blocks;
mod compliance;
mod console;
mod links;
mod llms;
mod readme;
mod reference;
mod sdk_examples;

use blocks::Block;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// All pages: their paths in the repository, and their texts. Files that an example serves are not pages.
fn pages() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["", "docs", "examples", "examples/*", ".github", ".github/ISSUE_TEMPLATE", "benches"] {
        match folder.strip_suffix("/*") {
            Some(above) => {
                let folders = std::fs::read_dir(repository().join(above)).expect("a folder");
                folders.for_each(|folder| collect(&folder.expect("a folder").path(), &mut found));
            }
            None => collect(&repository().join(folder), &mut found),
        }
    }
    assert!(found.len() > 10);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_file() && path.extension().is_some_and(|ending| ending == "md") {
            let text = std::fs::read_to_string(&path).expect("text");
            found.push((path, text));
        }
    }
}

#[test]
fn every_link_works() {
    let pages = pages();
    let broken: Vec<String> = pages.iter().flat_map(|(path, text)| links::broken(path, text)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_block_is_valid_in_its_language() {
    for (path, text) in pages() {
        for block in Block::all(&text) {
            let place = format!("{}:{}", path.display(), block.line);
            match block.language {
                "json" => {
                    let mut read =
                        serde_json::Deserializer::from_str(block.text).into_iter::<serde_json::Value>();
                    let wrong = read.find_map(Result::err);
                    assert!(wrong.is_none() || block.text.contains('…'), "{place}: {wrong:?}");
                }
                "sh" | "bash" => {
                    let check = Command::new("bash").args(["-n", "-c", block.text]).output().expect("bash");
                    assert!(check.status.success(), "{place}: {}", String::from_utf8_lossy(&check.stderr));
                }
                "c" | "console" | "diff" | "go" | "js" | "perl" | "python" | "rust" | "text" | "toml"
                | "ts" | "xml" | "yaml" => {}
                other => assert!(other.is_empty(), "{place}: nobody knows the language `{other}`"),
            }
        }
    }
}

#[test]
fn every_terminal_exchange_happens_as_shown() {
    let mut shown = 0;
    for (path, text) in pages() {
        let blocks = Block::all(&text);
        if blocks.iter().any(|block| block.language == "console") {
            shown += console::run(&path, &blocks);
        }
    }
    assert!(shown > 0, "no page shows a command");
}

#[test]
fn every_example_of_the_sdk_works() {
    let page = std::fs::read_to_string(repository().join("docs/bash-sdk.md")).expect("a page");
    let (count, wrong) = sdk_examples::run(&page);
    assert!(count > 40, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
