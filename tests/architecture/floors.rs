//! Floors: a crate uses only crates on lower floors. The table is in `ARCHITECTURE.md`.

use super::repository;
use std::collections::BTreeMap;
use std::fs;

/// The floor of each crate, as the table shows it: `| 4 | `crates/scripts` | …`.
fn floors(page: &str) -> BTreeMap<String, usize> {
    let rows = page.lines().filter_map(|line| {
        let (floor, rest) = line.strip_prefix("| ")?.split_once(" | `crates/")?;
        Some((rest.split_once('`')?.0.to_owned(), floor.parse().ok()?))
    });
    rows.collect()
}

/// The workspace crates among a manifest's dependencies, without dev-dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("\n[").find_map(|section| section.strip_prefix("dependencies]"));
    let names = section.unwrap_or_default().lines().filter_map(|line| line.strip_prefix("mcp-bash-"));
    names.map(|name| name.split(['.', ' ', '=']).next().unwrap_or_default().to_owned()).collect()
}

/// The errors in the dependencies of a crate.
fn wrong(name: &str, manifest: &str, floors: &BTreeMap<String, usize>) -> Vec<String> {
    let Some(own) = floors.get(name) else { return vec![format!("{name} has no row in the table")] };
    let mut wrong = Vec::new();
    for used in dependencies(manifest) {
        match floors.get(&used) {
            Some(floor) if floor < own => {}
            floor => wrong.push(format!("{name} (floor {own}) uses {used} (floor {floor:?})")),
        }
    }
    wrong
}

#[test]
fn a_crate_uses_only_crates_on_lower_floors() {
    let root = repository();
    let floors = floors(&fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap());
    let mut crates = 0;
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        assert_eq!(wrong(&name, &manifest, &floors), Vec::<String>::new());
        crates += 1;
    }
    assert_eq!(crates, floors.len(), "the table has rows for crates that do not exist");
}

#[test]
fn a_planted_dependency_is_found() {
    let floors = floors("| 1 | `crates/low` | x |\n| 2 | `crates/high` | x |\n| 2 | `crates/other` | x |\n");
    let manifest = |used: &str| {
        format!(
            "[package]\nname = \"x\"\n\n[dependencies]\nmcp-bash-{used}.workspace = true\n\n[dev-dependencies]\nmcp-bash-high = {{}}\n"
        )
    };
    assert_eq!(wrong("high", &manifest("low"), &floors), Vec::<String>::new());
    assert_eq!(wrong("low", &manifest("high"), &floors), ["low (floor 1) uses high (floor Some(2))"]);
    assert_eq!(wrong("high", &manifest("other"), &floors).len(), 1);
    assert_eq!(wrong("high", &manifest("unknown"), &floors), ["high (floor 2) uses unknown (floor None)"]);
}
