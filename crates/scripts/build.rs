//! Build script: lists the files of the SDK, so that they become part of the program: what scripts source, and what languages
//! import. Each folder of the SDK besides `parts` and `tests` belongs to a language. Modules for Node.js are in it twice, as files
//! and as one (`build/node_bundle.rs`).

#![allow(clippy::disallowed_methods, reason = "the files of a build")]

#[path = "build/node_bundle.rs"]
mod node_bundle;

use miniz_oxide::deflate::compress_to_vec;
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The extensions of files that a language imports, or that describe its package.
const LANGUAGE_ENDINGS: &[&str] = &["json", "md", "mjs", "py", "pyi", "toml", "ts", "typed"];

fn main() {
    // Read at run time: a build folder may have been copied from another checkout.
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where"));
    let sdk = here.join("../../sdk");
    let of = |folder: &str, endings: &[&str]| {
        let mut files = Vec::new();
        list(&sdk.join(folder), endings, &mut files);
        files.sort();
        files
    };
    let mut bash = of("parts", &["sh"]);
    bash.push(sdk.join("tool-sdk.sh"));
    let is_language = |name: &str| name != "parts" && name != "tests" && sdk.join(name).is_dir();
    let folders = fs::read_dir(&sdk).expect("the folder of the SDK").flatten();
    let folders = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let mut folders: Vec<String> = folders.filter(|name| is_language(name)).collect();
    folders.sort();
    let languages = folders.iter().flat_map(|folder| of(folder, LANGUAGE_ENDINGS));
    let languages: Vec<PathBuf> = languages.collect();
    let read = |file: &PathBuf| (below(file, &sdk), fs::read(file).expect("a file of the SDK"));
    let mut languages: Vec<(String, Vec<u8>)> = languages.iter().map(read).collect();
    languages.push((node_bundle::NAME.to_owned(), node_bundle::bundle(&sdk.join("node")).into_bytes()));
    let mut digest = DefaultHasher::new();
    bash.iter().map(read).for_each(|file| file.hash(&mut digest));
    languages.hash(&mut digest);
    let digest = format!("pub(crate) const DIGEST: &str = \"{:016x}\";\n", digest.finish());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    let text = digest + &constant("BASH_FILES", &bash, &sdk) + &archive(&languages, &out);
    fs::write(out.join("sdk_files.rs"), text).expect("the list can be written");
}

fn list(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "__pycache__" && entry.file_name() != "node_modules" {
            list(&path, endings, files);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
            files.push(path);
        }
    }
}

/// The name of a file below the SDK.
fn below(file: &Path, sdk: &Path) -> String {
    file.strip_prefix(sdk).expect("a file of the SDK").display().to_string()
}

/// The names of files, and their places in all their texts together, which are compressed: most are written to disk once, by the
/// first start of this version.
fn archive(files: &[(String, Vec<u8>)], out: &Path) -> String {
    let (mut texts, mut list) = (Vec::new(), String::new());
    for (name, text) in files {
        let start = texts.len();
        texts.extend(text);
        writeln!(list, "    ({name:?}, {start}..{}),", texts.len()).expect("a string takes everything");
    }
    fs::write(out.join("languages"), compress_to_vec(&texts, 10)).expect("the archive can be written");
    format!(
        "pub(crate) const LANGUAGE_FILES: [(&str, std::ops::Range<usize>); {}] = [\n{list}];\n\
         pub(crate) const LANGUAGES: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/languages\"));\n",
        files.len()
    )
}

/// The names of files below the SDK, and their texts.
fn constant(name: &str, files: &[PathBuf], sdk: &Path) -> String {
    let mut text = format!("pub(crate) const {name}: [(&str, &str); {}] = [\n", files.len());
    for file in files {
        let (name, path) = (below(file, sdk), file.display().to_string());
        writeln!(text, "    ({name:?}, include_str!({path:?})),").expect("a string takes everything");
    }
    text + "];\n"
}
