//! Packing: the files of a bundle, written into one archive that appears complete or not at all.

use super::contents::{Contents, MOST_FILE_BYTES};
use super::pictures::Pictures;
use super::programs::ProgramFile;
use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_packaging::{BUNDLED_LAUNCHER, Start, ZipWriter, holds_private_key};
use mcp_bash_terminal::harmless;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// One bundle, ready to be written.
pub(super) struct Bundle<'p> {
    pub(super) file_name: String,
    pub(super) manifest: String,
    pub(super) entry_point: &'static str,
    pub(super) program: Option<&'p ProgramFile>,
    pub(super) notes: Vec<String>,
}

/// Where bundles go.
pub(super) struct Destination {
    folder: PathBuf,
    may_replace: bool,
}

impl Destination {
    pub(super) fn new(folder: Option<&Path>, may_replace: bool) -> Self {
        Self { folder: folder.unwrap_or(Path::new(".")).to_owned(), may_replace }
    }
}

/// Refuses contents that must not leave this machine.
pub(super) fn check_contents(contents: &Contents) -> Result<(), Error> {
    for (path, file) in &contents.files {
        let bytes = mcp_bash_files::read(&file.source, MOST_FILE_BYTES)
            .map_err(|source| Error::Read { path: file.source.clone(), source })?;
        if holds_private_key(&bytes) {
            let words = format!(
                "{path} contains a private key, which every user of the package could read; take it out of the project, and let \
                 its script name it in `secrets` (docs/secrets.md)"
            );
            return Err(Error::of_command(Exit::Refused, words));
        }
    }
    Ok(())
}

/// Writes a bundle, and says so.
pub(super) fn write(
    bundle: &Bundle<'_>,
    contents: &Contents,
    pictures: &Pictures,
    destination: &Destination,
) -> Result<String, Error> {
    let path = destination.folder.join(&bundle.file_name);
    let is_new_folder = !destination.folder.exists();
    let made = std::fs::create_dir_all(&destination.folder);
    made.map_err(|source| Error::Write { path: destination.folder.clone(), source })?;
    let packed = |file: &mut File| pack(bundle, contents, pictures, BufWriter::new(file)).map(drop);
    let written = mcp_bash_files::write_new(&path, 0o644, destination.may_replace, packed);
    if written.is_err() && is_new_folder {
        let _ = std::fs::remove_dir(&destination.folder);
    }
    match written {
        Ok(()) => {
            let size = path.metadata().map(|file| file.len()).unwrap_or_default();
            Ok(format!("Wrote {} ({size} bytes)", path.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let words = format!("{} exists; `--force` replaces it, or set another version", path.display());
            Err(Error::of_command(Exit::Refused, words))
        }
        Err(source) => Err(Error::Write { path, source }),
    }
}

fn pack<W: io::Write>(
    bundle: &Bundle<'_>,
    contents: &Contents,
    pictures: &Pictures,
    out: W,
) -> io::Result<W> {
    let mut archive = ZipWriter::new(out);
    archive.add("manifest.json", bundle.manifest.as_bytes(), false)?;
    let start = bundle.program.map_or(BUNDLED_LAUNCHER.as_bytes(), |program| &program.bytes);
    archive.add(bundle.entry_point, start, true)?;
    for (path, bytes) in pictures.files() {
        archive.add(path, bytes, false)?;
    }
    for (path, file) in &contents.files {
        let bytes = mcp_bash_files::read(&file.source, MOST_FILE_BYTES)
            .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
        archive.add(&Start::project_path(path), &bytes, file.is_program)?;
    }
    archive.finish()
}

/// What would be written, one line for each file.
pub(super) fn listing(
    bundles: &[Bundle<'_>],
    contents: &Contents,
    pictures: &Pictures,
    with_manifest: bool,
) -> String {
    let mut text = String::new();
    for bundle in bundles {
        let _ = writeln!(text, "{}", bundle.file_name);
        let start = bundle.program.map_or(BUNDLED_LAUNCHER.len(), |program| program.bytes.len());
        let _ = writeln!(text, "{:>11}  manifest.json", bundle.manifest.len());
        let _ = writeln!(text, "{start:>11}  {}", bundle.entry_point);
        for (path, bytes) in pictures.files() {
            let _ = writeln!(text, "{:>11}  {path}", bytes.len());
        }
        for (path, file) in &contents.files {
            let _ = writeln!(text, "{:>11}  {}", file.bytes, Start::project_path(path));
        }
        if with_manifest {
            text.push_str(&bundle.manifest);
        }
    }
    for (path, reason) in &contents.left_out {
        let _ = writeln!(text, "   left out  {path} ({reason})");
    }
    harmless(&text)
}
