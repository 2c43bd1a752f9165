//! `llms.txt`, and `llms-full.txt` of the site, contain the pages, for agents that build servers with
//! mcp-bash.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page of the book: its section, its title there, its path.
struct Entry {
    section: String,
    title: String,
    path: String,
}

/// The pages in the order of the book.
fn entries() -> Vec<Entry> {
    let summary = std::fs::read_to_string(repository().join("site/SUMMARY.md")).expect("site/SUMMARY.md");
    let (mut entries, mut section) = (Vec::new(), String::new());
    for line in summary.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            heading.clone_into(&mut section);
        } else if let Some((title, path)) = line.split_once("](") {
            let title = title.trim_start_matches(['-', ' ', '[']).to_owned();
            entries.push(Entry {
                section: section.clone(),
                title,
                path: path.trim_end_matches(')').to_owned(),
            });
        }
    }
    entries
}

/// The pages that a user needs to build a server, without those about this program's own code.
fn pages_for_builders() -> Vec<Entry> {
    entries()
        .into_iter()
        .filter(|entry| entry.path.starts_with("docs/") && entry.path != "docs/compliance.md")
        .collect()
}

#[test]
fn every_page_is_in_the_book() {
    let listed: Vec<String> = entries().into_iter().map(|entry| entry.path).collect();
    for entry in std::fs::read_dir(repository().join("docs")).expect("docs") {
        let name = format!("docs/{}", entry.expect("a file").file_name().to_string_lossy());
        assert!(listed.contains(&name), "{name} is not in site/SUMMARY.md");
    }
    for path in listed {
        assert!(repository().join(&path).is_file(), "site/SUMMARY.md names {path}");
    }
}

#[test]
fn the_text_for_agents_lists_the_pages() {
    let mut text = String::from(
        "# mcp-bash\n\n\
         > A folder of scripts becomes a Model Context Protocol server. One binary finds tools, resources and prompts in a\n\
         > project folder, describes them to any MCP client, and runs them.\n\n\
         To build a server: `mcp-bash new NAME`, `mcp-bash scaffold tool NAME`, edit the script and its metadata,\n\
         `mcp-bash validate --strict`, `mcp-bash test`, `mcp-bash install CLIENT`. Projects to copy from:\n\
         [examples](examples/README.md).\n\
         The site has these pages in one text: llms-full.txt.\n",
    );
    let mut section = String::new();
    for entry in pages_for_builders() {
        if section != entry.section {
            let _ = write!(text, "\n## {}\n\n", entry.section);
            section = entry.section;
        }
        let page = std::fs::read_to_string(repository().join(&entry.path)).expect("a page");
        let question = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        let _ = writeln!(text, "- [{}]({}): {question}", entry.title, entry.path);
    }
    super::reference::expect_file(&repository().join("llms.txt"), &text);
}

#[test]
fn the_long_text_for_agents_holds_the_pages_in_their_order() {
    let output = Command::new(repository().join("site/llms-full")).output().expect("the script runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut parts = text.split("---\n\n<!-- docs/");
    let opening = parts.next().expect("an opening");
    assert!(opening.starts_with("# mcp-bash\n") && !opening.contains("llms-full.txt"), "{opening}");
    let parts: Vec<String> = parts.map(|part| format!("docs/{part}")).collect();
    let pages: Vec<String> = pages_for_builders()
        .into_iter()
        .map(|Entry { path, .. }| {
            let page = std::fs::read_to_string(repository().join(&path)).expect("a page");
            format!("{path} -->\n\n{page}\n")
        })
        .collect();
    assert!(parts == pages, "llms.txt or site/llms-full leaves out a page, or has another order");
}
