//! Architecture tests: the folders of a crate depend on each other in one direction, crates use only crates
//! on lower floors (`floors`), only some files may start processes or contain unsafe code (`rules`), and all files name the same
//! version (`versions`).
//!
//! [`ORDER`] has a row for each crate with an enforced order. `ARCHITECTURE.md` shows the same order to
//! readers. Code for tests only (`#[cfg(test)]`) does not count.

mod code;
mod floors;
mod paths;
mod rules;
mod versions;

use paths::{Exports, NamedPath, paths_in};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

/// The order of the folders in one place.
struct Row {
    /// The folder of the sources, as the heading in `ARCHITECTURE.md` names it.
    place: &'static str,
    /// The modules from the root of the crate to that folder.
    module: &'static [&'static str],
    /// Its folders and files. Each uses only itself and those before it.
    order: &'static [&'static str],
    /// Files beside them that may use all of them.
    above: &'static [&'static str],
}

const ORDER: &[Row] = &[
    Row {
        place: "crates/project",
        module: &[],
        order: &[
            "trust",
            "ground",
            "languages",
            "declarations",
            "walk",
            "watch",
            "kinds",
            "catalog",
            "checks",
        ],
        above: &[],
    },
    Row {
        place: "crates/scripts",
        module: &[],
        order: &[
            "confining",
            "running",
            "surroundings",
            "interpreters",
            "workers",
            "definitions",
            "scripts",
            "calls",
            "checks",
        ],
        above: &[],
    },
    Row {
        place: "crates/server",
        module: &[],
        order: &[
            "tasks", "callers", "stores", "replies", "logging", "offered", "requests", "deferred",
            "sessions", "handling", "methods", "dispatch",
        ],
        above: &[],
    },
    Row {
        place: "crates/transport",
        module: &[],
        order: &["lifecycle", "memory", "stdio", "http"],
        above: &[],
    },
    Row {
        place: "crates/transport/src/http",
        module: &["http"],
        order: &[
            "listen", "limits", "secrets", "access", "identity", "streams", "sessions", "metrics",
            "requests", "serving",
        ],
        above: &[],
    },
    Row {
        place: "crates/cli",
        module: &[],
        order: &["base", "terminal", "report", "open", "commands"],
        above: &["absent.rs", "arguments.rs", "habits.rs", "habits/address.rs", "help_groups.rs"],
    },
];

impl Row {
    /// The file that declares the folders.
    fn root(&self) -> &'static str {
        match (self.place, self.module) {
            ("crates/cli", _) => "main.rs",
            (_, []) => "lib.rs",
            _ => "mod.rs",
        }
    }

    fn module_words(&self) -> Vec<String> {
        self.module.iter().map(|part| (*part).to_owned()).collect()
    }
}

/// The sources of a crate, by their paths in `src`.
type Sources = BTreeMap<String, String>;

/// A path in a file that leads to a folder later in the order.
#[derive(Debug, PartialEq, Eq)]
struct WrongEdge {
    file: String,
    line: usize,
    name: String,
    from: String,
    to: String,
}

impl Display for WrongEdge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { file, line, name, from, to } = self;
        write!(f, "{file}:{line}: `{from}` uses `{name}` of `{to}`, which comes after it")
    }
}

/// All edges of a crate that go the wrong way.
fn wrong_edges(sources: &Sources, row: &Row) -> Vec<WrongEdge> {
    let order = row.order;
    let exports = Exports::of(sources.get(row.root()).map_or("", String::as_str), order);
    let place = |folder: &str| order.iter().position(|known| *known == folder);
    let mut wrong = Vec::new();
    for (file, text) in sources {
        let module = module_of(file);
        let Some(own) = module.first().and_then(|folder| place(folder)) else { continue };
        if is_test_module(file, sources) {
            continue;
        }
        let whole = [row.module_words(), module].concat();
        for NamedPath { path, line } in paths_in(text, &whole) {
            let Some(path) = path.strip_prefix(row.module_words().as_slice()) else { continue };
            let Some(folder) = exports.folder_of(path) else { continue };
            if place(folder).is_some_and(|other| other > own) {
                let (from, to) = (order[own].to_owned(), folder.to_owned());
                wrong.push(WrongEdge { file: file.clone(), line, name: path.join("::"), from, to });
            }
        }
    }
    wrong
}

/// The module path of a file.
fn module_of(file: &str) -> Vec<String> {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if ["lib", "main", "mod"].contains(&path) {
        Vec::new()
    } else {
        path.split('/').map(str::to_owned).collect()
    }
}

/// Whether a file, or a module that it is in, is declared for tests only.
fn is_test_module(file: &str, sources: &Sources) -> bool {
    let module = module_of(file);
    (1..=module.len()).any(|length| {
        let (parent, name) = (&module[..length - 1], &module[length - 1]);
        let parent = parent.join("/");
        let candidates = match parent.as_str() {
            "" => ["lib.rs", "main.rs", "mod.rs"].map(str::to_owned).to_vec(),
            parent => vec![format!("{parent}.rs"), format!("{parent}/mod.rs")],
        };
        let mut declared = candidates.iter().filter_map(|parent| sources.get(parent));
        declared.any(|parent| code::test_modules(parent).contains(name))
    })
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources_of(row: &Row) -> Sources {
    let root = repository().join(row.place);
    let root = if row.module.is_empty() { root.join("src") } else { root };
    let (mut sources, mut folders) = (Sources::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let file = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                sources.insert(file, fs::read_to_string(&path).unwrap());
            }
        }
    }
    sources
}

#[test]
fn each_folder_uses_only_folders_before_it() {
    for row in ORDER {
        let wrong = wrong_edges(&sources_of(row), row);
        let wrong: Vec<String> = wrong.iter().map(|edge| format!("{}: {edge}", row.place)).collect();
        assert!(wrong.is_empty(), "edges against the order of the folders:\n{}", wrong.join("\n"));
    }
}

#[test]
fn every_file_of_an_ordered_crate_is_in_a_folder_of_its_row() {
    for row in ORDER {
        let sources = sources_of(row);
        let first = |file: &str| module_of(file).first().cloned().unwrap_or_default();
        for folder in row.order {
            let is_there = sources.keys().any(|file| first(file) == *folder);
            assert!(is_there, "{} has no folder `{folder}`", row.place);
        }
        let is_placed = |file: &str| {
            file == row.root() || row.above.contains(&file) || row.order.contains(&first(file).as_str())
        };
        let mut files = sources.keys().filter(|file| !is_test_module(file, &sources));
        assert_eq!(
            files.find(|file| !is_placed(file)),
            None,
            "{}: a file in no folder of the row",
            row.place
        );
    }
}

#[test]
fn the_architecture_shows_the_same_order() {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    for row in ORDER {
        let heading = format!("# `{}`\n", row.place);
        let section = text.split_once(&heading).unwrap_or_else(|| panic!("no heading `{}`", row.place)).1;
        let section = section.split("\n##").next().unwrap_or_default();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let shown: Vec<&str> =
            rows.map(|(name, _)| name.trim_end_matches('/').trim_end_matches(".rs")).collect();
        assert_eq!(shown, row.order, "the section of `{}`", row.place);
    }
}

/// Each folder has few enough files for its listing to be read at a glance.
#[test]
fn no_folder_has_more_than_25_source_files() {
    let root = repository();
    let (mut folders, mut crowded) =
        (vec![root.join("crates"), root.join("tests"), root.join("soak")], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        let files =
            entries.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")).count();
        if files > 25 {
            crowded.push(format!("{}: {files}", folder.strip_prefix(&root).unwrap().display()));
        }
        folders.extend(entries.into_iter().filter(|path| path.is_dir() && !path.ends_with("node_modules")));
    }
    assert!(crowded.is_empty(), "cut these folders by subject: {crowded:?}");
}

/// A crate of three folders, with `text` in a file of the middle one.
fn planted(text: &str) -> Vec<WrongEdge> {
    let library = "mod base;\nmod middle;\nmod top;\npub use top::{Roof, tile as Tile};\n";
    let files = [
        ("lib.rs", library),
        ("base/mod.rs", "pub(crate) struct Ground;\n"),
        ("middle/mod.rs", "mod wall;\n#[cfg(test)]\nmod tests;\n"),
        ("middle/tests.rs", "use crate::top::Roof;\n"),
        ("middle/wall.rs", text),
        ("top/mod.rs", "use crate::middle::wall;\npub struct Roof;\n"),
    ];
    let sources = files.into_iter().map(|(file, text)| (file.to_owned(), text.to_owned())).collect();
    let row = Row { place: "crates/planted", module: &[], order: &["base", "middle", "top"], above: &[] };
    wrong_edges(&sources, &row)
}

#[test]
fn a_planted_edge_is_found_however_it_is_written() {
    let rows = [
        ("use crate::top::Roof;", 1),
        ("\n\nuse crate::{base::Ground,\n    top::{self, Roof}};", 4),
        ("pub(crate) use crate::top::Roof as Ceiling;", 1),
        ("use super::super::top::Roof;", 1),
        ("fn build() {\n    crate::top::raise::<u8>();\n}", 2),
        ("fn build(roof: &dyn Fn(crate::top::Roof)) {}", 1),
        ("use crate::Roof;", 1),
        ("use crate::Tile;", 1),
        ("mod inner {\n    use super::super::super::top::Roof;\n}", 2),
        ("mod inner { mod more {} }\nuse super::super::top::Roof;", 2),
        ("const Q: char = '\"';\nuse crate::top::Roof; // \"", 2),
        ("const R: &str = r#\"\" // \"#; use crate::top::Roof;", 1),
        ("fn f<'a>(x: &'a str) {} use crate::top::Roof;", 1),
        ("#[cfg(not(test))]\nuse crate::top::Roof;", 2),
        ("#[cfg(test)]\nmod tests { fn f() { \"}\"; } }\nuse crate::top::Roof;", 3),
        ("/* /* nested */ */ use crate::top::*;", 1),
    ];
    for (text, line) in rows {
        let found = planted(text);
        assert!(!found.is_empty(), "not found: {text}");
        for edge in found {
            let told = edge.to_string();
            assert_eq!((edge.file.as_str(), edge.line), ("middle/wall.rs", line), "{text}: {told}");
            assert!(told.contains("`middle` uses `") && told.contains("of `top`"), "{told}");
        }
    }
}

#[test]
fn ignores_text_that_is_not_a_path() {
    let rows = [
        "use crate::base::Ground;",
        "use super::tests;",
        "// use crate::top::Roof;",
        "/// [`Roof`]: crate::top::Roof\nfn f() {}",
        "const S: &str = \"crate::top::Roof\";",
        "const R: &str = r#\"crate::top::\"Roof\"\"#;",
        "#[cfg(test)]\nuse crate::top::Roof;",
        "#[cfg(test)]\n#[expect(unused)]\nmod tests {\n    use crate::top::Roof;\n}",
        "pub(crate) struct Top;\npub(super) fn top() {}",
        "use other::top::Roof;",
    ];
    for text in rows {
        assert_eq!(planted(text), [], "{text}");
    }
}
