//! Signs of a provider: how an executable directly in `tools/` says that it provides tools. Nothing is run to find out.

use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::walk::function_sign::functions_of;
use crate::walk::sighting::Candidate;
use mcp_bash_files::shortage::noted;
use memchr::memmem::Finder;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A text in every program that prints definitions of tools.
const SIGN: &[u8] = b"inputSchema";

/// A text in a compiled program that wants to be asked. Compilers split short texts, so the sign above may not be in it in
/// one piece.
const MARK: &[u8] = br#"mcp: {"provider": true}"#;

/// The header of a compiled program has a NUL in its first bytes, this many of them; no text has one.
const HEADER: u64 = 16;

/// How much of a program is read, in bytes. Its texts come long before its debugging symbols.
const LOOKED_AT: u64 = 32 * 1024 * 1024;

/// How much of it is in memory at once.
const PIECE: usize = 64 * 1024;

/// Which executables directly in `tools/` are asked for their tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asks {
    /// Those that gave a sign.
    #[default]
    Signed,
    /// All that are not described.
    All,
}

/// What a file without a metadata file says it is.
pub(crate) enum Says {
    /// A tool, with the metadata of its `# mcp:` line.
    Described(Box<Metadata>),
    /// It provides tools, and is to be asked for them.
    Provides,
    /// Its functions are tools, resources or prompts.
    HoldsFunctions,
    Nothing,
}

/// Reads what a file says it is. The error is the problem with its `# mcp:` line.
pub(crate) fn read(candidate: &Candidate, asks: Asks) -> Result<Says, EntryError> {
    let can_be_asked = candidate.at_the_top && candidate.stamps.file.is_executable();
    match Metadata::inline(&candidate.file)? {
        Some(metadata) if !metadata.provides_tools() => Ok(Says::Described(metadata.into())),
        Some(_) if !candidate.at_the_top => {
            Err("`\"provider\": true` counts only directly in the folder of the tools; move it there".into())
        }
        Some(_) if !can_be_asked => {
            Err("it says that it provides tools, and is not executable; run `chmod +x` on it".into())
        }
        Some(_) => Ok(Says::Provides),
        None if functions_of(&candidate.file).is_some() => Ok(Says::HoldsFunctions),
        None if can_be_asked && (asks == Asks::All || holds_sign(&candidate.file)) => Ok(Says::Provides),
        None => Ok(Says::Nothing),
    }
}

/// Whether a file contains the sign, or a compiled program the mark.
fn holds_sign(file: &Path) -> bool {
    let search = |file: File| {
        let mut bytes = file.take(LOOKED_AT);
        let header = header_of(&mut bytes)?;
        let signs = if is_compiled(&header) { &[SIGN, MARK][..] } else { &[SIGN] };
        holds_any(header.chain(bytes), signs)
    };
    mcp_bash_files::open(file).and_then(search).unwrap_or(false)
}

/// Whether a file is a compiled program, judged by its beginning.
pub(crate) fn is_compiled_program(file: &Path) -> bool {
    mcp_bash_files::open(file).and_then(header_of).is_ok_and(|header| is_compiled(&header))
}

fn header_of(bytes: impl Read) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    bytes.take(HEADER).read_to_end(&mut header).map_err(noted)?;
    Ok(header)
}

fn is_compiled(header: &[u8]) -> bool {
    header.contains(&0)
}

/// Whether the bytes contain any of `wanted`, even across two pieces.
fn holds_any(mut bytes: impl Read, wanted: &[&[u8]]) -> io::Result<bool> {
    let finders: Vec<Finder<'_>> = wanted.iter().map(|wanted| Finder::new(*wanted)).collect();
    let longest = wanted.iter().map(|wanted| wanted.len()).max().unwrap_or(1);
    let (mut piece, mut kept) = (vec![0; PIECE], 0);
    loop {
        let count = match bytes.read(&mut piece[kept..]) {
            Ok(0) => return Ok(false),
            Ok(count) => kept + count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(noted(error)),
        };
        if finders.iter().any(|finder| finder.find(&piece[..count]).is_some()) {
            return Ok(true);
        }
        // A wanted text may straddle two pieces.
        kept = count.min(longest - 1);
        piece.copy_within(count - kept..count, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_found_in_any_position() {
        for sign in [SIGN, MARK] {
            let length = sign.len();
            for before in [0, 1, PIECE - length - 1, PIECE - length, PIECE - 1, PIECE, 3 * PIECE - 5] {
                let bytes = [&vec![b'x'; before], sign, b"after"].concat();
                assert!(holds_any(&*bytes, &[SIGN, MARK]).unwrap(), "after {before} bytes");
                let cut = &bytes[..before + length - 1];
                assert!(!holds_any(cut, &[SIGN, MARK]).unwrap(), "cut off after {before} bytes");
            }
        }
    }
}
