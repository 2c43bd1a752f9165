//! Packages of a project: bundles, the vendored program, the entry in the registry and the image.

mod bundle;
mod bundle_contents;
mod bundle_descriptions;
mod image;
mod publish;
mod vendor;

use crate::harness::{Project, Said, Server};
use mcp_bash_packaging::Archive;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const LIMIT: usize = 1_000_000_000;

/// Something that is done to a project before a command runs.
type Change<'a> = &'a dyn Fn(&Project);

/// A project with what a bundle needs, and a tool `hi`.
fn described() -> Project {
    Project::with_hi().file("VERSION", "1.0.0\n").file(
        "server.d/server.meta.json",
        r#"{"name": "greeter", "description": "Greets", "author": {"name": "Ann"},
            "repository": "https://github.com/ann/greeter"}"#,
    )
}

fn command(project: &Project, words: &[&str]) -> Command {
    let mut command = Server::command();
    command.args(words).arg("--project-root").arg(project.root()).current_dir(project.root());
    command
}

fn said(command: &mut Command) -> Said {
    let output = command.output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

fn run(project: &Project, words: &[&str]) -> Said {
    said(&mut command(project, words))
}

/// A file that looks like a static mcp-bash for Linux.
fn program(folder: &Path, version: &str) -> PathBuf {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(120, 0);
    (bytes[18], bytes[32], bytes[54], bytes[56], bytes[64]) = (62, 64, 56, 1, 1);
    marked_program(folder, bytes, version)
}

/// A file with the mark of mcp-bash.
fn marked_program(folder: &Path, mut bytes: Vec<u8>, version: &str) -> PathBuf {
    bytes.extend(format!("\u{1}mcp-bash program version {version}\u{1}").as_bytes());
    let path = folder.join(format!("mcp-bash-{version}"));
    fs::write(&path, bytes).unwrap();
    path
}

/// Makes a bundle without a program in a folder of its own; its path.
fn bundled(project: &Project, folder: &TempDir) -> PathBuf {
    let said = run(project, &["bundle", "--no-binary", "--output", folder.path().to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    let mut files = fs::read_dir(folder.path()).unwrap();
    files.next().expect("a bundle").unwrap().path()
}

fn manifest(bundle: &Path) -> Value {
    let bytes = fs::read(bundle).unwrap();
    serde_json::from_slice(&Archive::new(&bytes).unwrap().read("manifest.json", LIMIT).unwrap()).unwrap()
}

fn names(bundle: &Path) -> Vec<String> {
    let bytes = fs::read(bundle).unwrap();
    Archive::new(&bytes).unwrap().names().map(str::to_owned).collect()
}

/// Unpacks a bundle as a client does.
fn unpacked(bundle: &Path) -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    let (folder, bytes) = (TempDir::new().unwrap(), fs::read(bundle).unwrap());
    let archive = Archive::new(&bytes).unwrap();
    for name in archive.names() {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, archive.read(name, LIMIT).unwrap()).unwrap();
        let is_program = name.starts_with("bin/") || path.extension().is_some_and(|ending| ending == "sh");
        fs::set_permissions(&path, fs::Permissions::from_mode(if is_program { 0o755 } else { 0o644 }))
            .unwrap();
    }
    folder
}
