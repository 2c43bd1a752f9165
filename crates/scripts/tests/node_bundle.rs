//! The bundle for Node.js that the build makes of modules: their order, their names, and what it refuses.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

#[path = "../build/node_bundle.rs"]
mod node_bundle;

use node_bundle::{NAME, bundle};
use std::fs;
use std::panic;
use std::path::Path;
use tempfile::TempDir;

/// Modules, by their names. A start that does nothing is added.
fn modules(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("lib/worker/start.mjs", "\n")].iter().chain(files) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Why no bundle is made.
fn refusal(files: &[(&str, &str)]) -> String {
    let folder = modules(files);
    let refused = panic::catch_unwind(|| bundle(folder.path())).expect_err("a bundle was made");
    refused.downcast_ref::<String>().cloned().expect("a message")
}

#[test]
fn a_module_follows_those_that_it_imports_and_keeps_its_own_names() {
    let folder = modules(&[
        ("index.mjs", "export { a } from './lib/a.mjs'\n"),
        (
            "lib/a.mjs",
            "import { b } from './deep/b.mjs'\nimport { sep } from 'node:path'\nexport function a() {\n  return own + b + sep\n}\nconst own = 1\n",
        ),
        ("lib/deep/b.mjs", "const own = new URL('../..', import.meta.url)\nexport const b = own\n"),
    ]);
    assert_eq!(
        bundle(folder.path()).split_once("\n\n").unwrap().1,
        "import { sep } from 'node:path'\n\
         \n// lib/worker/start.mjs\n;(() => {\n\n})()\n\
         \n// lib/deep/b.mjs\nconst { b } = (() => {\nconst own = new URL('./', import.meta.url)\nconst b = own\nreturn { b }\n})()\n\
         \n// lib/a.mjs\nconst { a } = (() => {\nfunction a() {\n  return own + b + sep\n}\nconst own = 1\nreturn { a }\n})()\n\
         \nexport { a }\n"
    );
}

#[test]
fn what_a_module_imports_while_it_runs_is_in_the_bundle_too() {
    let a = "export async function a() {\n  const { b } = await import('./deep/b.mjs')\n  return b\n}\n";
    let folder = modules(&[
        ("index.mjs", "export { a } from './lib/a.mjs'\n"),
        ("lib/a.mjs", a),
        ("lib/deep/b.mjs", "export const b = 1\n"),
    ]);
    let text = bundle(folder.path());
    assert!(text.contains("  const { b } = lib_deep_b_mjs\n"), "{text}");
    assert!(text.contains("return { b }\n})()\nconst lib_deep_b_mjs = { b }\n"), "{text}");
}

#[test]
fn modules_that_a_bundle_cannot_mean_end_the_build() {
    let index = ("index.mjs", "export { a } from './lib/a.mjs'\nexport { b } from './lib/b.mjs'\n");
    let refused = |a, b| refusal(&[index, ("lib/a.mjs", a), ("lib/b.mjs", b)]);
    let b = "export const b = 1\n";
    for (a, b, expected) in [
        ("export const a = 1, b = 2\nexport const b = 2\n", b, "both export `b`"),
        (
            "import { b } from './b.mjs'\nexport const a = b\n",
            "import { a } from './a.mjs'\nexport const b = a\n",
            "import each other",
        ),
        ("import { c } from './b.mjs'\nexport const a = c\n", b, "does not export the `c`"),
        ("import { b as c } from './b.mjs'\nexport const a = c\n", b, "knows each export by one name"),
        ("import {\n  b,\n} from './b.mjs'\nexport const a = b\n", b, "in one line"),
        ("export default 1\n", b, "a constant, a class or a function"),
        ("export let a = 1\n", b, "a constant, a class or a function"),
        ("import { b } from 'node:path'\nexport const a = b\n", b, "mean different things by `b`"),
        (
            "import { join } from 'node:path'\nexport const a = 1\n",
            "import { join } from 'node:other'\nexport const b = 1\n",
            "another `join`",
        ),
        ("import { d } from './d.mjs'\nexport const a = d\n", b, "d.mjs"),
    ] {
        let message = refused(a, b);
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn the_bundle_of_the_sdk_has_every_module_of_its_worker_once() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk");
    assert!(NAME.starts_with("node/") && !sdk.join(NAME).exists());
    let text = bundle(&sdk.join("node"));
    let mut names: Vec<String> = Vec::new();
    for folder in ["lib", "lib/worker"] {
        let files = fs::read_dir(sdk.join("node").join(folder)).unwrap().flatten();
        let files = files.filter(|file| file.path().extension().is_some_and(|ending| ending == "mjs"));
        names.extend(files.map(|file| format!("\n// {folder}/{}\n", file.file_name().display())));
    }
    // It runs in a thread of its own.
    names.retain(|name| !name.contains("import-hooks.mjs"));
    for name in names {
        assert_eq!(text.matches(&name).count(), 1, "{name}");
    }
    let index = fs::read_to_string(sdk.join("node/index.mjs")).unwrap();
    let exports = text.lines().last().unwrap();
    for name in index.split(['{', '}']).skip(1).step_by(2).flat_map(|names| names.split(',')) {
        assert!(exports.contains(&format!(" {}", name.trim())), "{name}");
    }
}
