//! Programs: for which system and processor a file was built, whether it needs libraries there, and whether it is mcp-bash.

use crate::Version;
use memchr::memmem;
use std::fmt;

/// The mark by which a file is known to be this program, with its version. The binary contains it.
pub const MARK: &str = concat!("\u{1}mcp-bash program version ", env!("CARGO_PKG_VERSION"), "\u{1}");

/// The kind of a row in the table of an ELF file that names a dynamic linker.
const INTERPRETER: u32 = 3;

/// The mark up to the version.
const MARK_START: &str = "\u{1}mcp-bash program version ";

/// Operating systems, by the names that bundles use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    Linux,
    Darwin,
}

impl Platform {
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Darwin => "darwin",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    X86_64,
    Arm64,
    /// Both, in one file; only macOS has that.
    Universal,
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
            Self::Universal => "universal",
        })
    }
}

/// What the head of a program file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub platform: Platform,
    pub architecture: Architecture,
    /// Whether it needs a dynamic linker and libraries of the machine.
    pub is_dynamic: bool,
    /// The version, if it is mcp-bash.
    pub version: Option<Version>,
}

impl Program {
    /// Reads a program file; `None` if it is none that we know.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (platform, architecture, is_dynamic) = elf(bytes).or_else(|| mach_o(bytes))?;
        Some(Self { platform, architecture, is_dynamic, version: version(bytes) })
    }

    /// As in `linux-x86_64`.
    pub fn target(&self) -> String {
        format!("{}-{}", self.platform.name(), self.architecture)
    }
}

/// The version in the mark. The start of the mark alone is in the binary too, since this file looks for it.
fn version(bytes: &[u8]) -> Option<Version> {
    let start = MARK_START.as_bytes();
    let mut rest = bytes;
    loop {
        let at = memmem::find(rest, start)?;
        rest = &rest[at + start.len()..];
        let end = rest.iter().take(64).position(|byte| *byte == 1);
        let text = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
        if let Some(version) = text.and_then(Version::parse) {
            return Some(version);
        }
    }
}

fn elf(bytes: &[u8]) -> Option<(Platform, Architecture, bool)> {
    // 64 bits, little-endian.
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let architecture = match u16_at(bytes, 18)? {
        62 => Architecture::X86_64,
        183 => Architecture::Arm64,
        _ => return None,
    };
    let table = usize::try_from(u64::from_le_bytes(*bytes.get(32..)?.first_chunk()?)).ok()?;
    let (size, count) = (usize::from(u16_at(bytes, 54)?), usize::from(u16_at(bytes, 56)?));
    let mut kinds = (0..count).filter_map(|index| u32_at(bytes, table.checked_add(index * size)?));
    Some((Platform::Linux, architecture, kinds.any(|kind| kind == INTERPRETER)))
}

fn mach_o(bytes: &[u8]) -> Option<(Platform, Architecture, bool)> {
    let architecture = match *bytes.first_chunk::<4>()? {
        // Several programs in one file. Java classes begin alike, with a version that no count of processors reaches.
        [0xca, 0xfe, 0xba, 0xbe] if bytes.get(7).is_some_and(|count| (1..10).contains(count)) => {
            Architecture::Universal
        }
        [0xcf, 0xfa, 0xed, 0xfe] => match u32_at(bytes, 4)? {
            0x0100_0007 => Architecture::X86_64,
            0x0100_000c => Architecture::Arm64,
            _ => return None,
        },
        _ => return None,
    };
    // Every program of macOS uses its libraries, which every Mac has.
    Some((Platform::Darwin, architecture, false))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head of an ELF file with one row in its table.
    fn elf_file(machine: u8, kind: u8) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(120, 0);
        bytes[18] = machine;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = kind;
        bytes
    }

    #[test]
    fn heads_tell_the_system_and_the_processor() {
        let read = |bytes: &[u8]| Program::read(bytes).map(|program| (program.target(), program.is_dynamic));
        assert_eq!(read(&elf_file(62, 1)), Some(("linux-x86_64".into(), false)));
        assert_eq!(read(&elf_file(183, 3)), Some(("linux-arm64".into(), true)));
        assert_eq!(read(b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"), Some(("darwin-arm64".into(), false)));
        assert_eq!(read(b"\xca\xfe\xba\xbe\x00\x00\x00\x02"), Some(("darwin-universal".into(), false)));
        for wrong in [
            &b""[..],
            b"#!/bin/sh\n",
            b"MZ\x90",
            b"\xca\xfe\xba\xbe\x00\x00\x00\x34",
            &elf_file(3, 1),
            b"\x7fELF\x02\x01",
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_mark_tells_the_version() {
        let mut bytes = elf_file(62, 1);
        assert_eq!(Program::read(&bytes).unwrap().version, None);
        bytes.extend(format!("{MARK_START} some other text {MARK_START}1.2.3\u{1}").as_bytes());
        assert_eq!(Program::read(&bytes).unwrap().version, Version::parse("1.2.3"));
        assert!(MARK.starts_with(MARK_START));
    }
}
