//! ZIP reader: finds and reads single files of an archive that may be damaged or hostile, within limits.

use super::crc32::crc32;
use super::{CENTRAL, DEFLATED, END, LOCAL, STORED, ZipError};
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// How far from the end the directory may be announced: a comment, or the signature of a bundle, may follow it.
const LONGEST_TAIL: usize = 1024 * 1024;
const END_SIZE: usize = 22;

/// An archive in memory.
#[derive(Debug)]
pub struct Archive<'b> {
    bytes: &'b [u8],
    entries: Vec<ArchivedFile>,
}

#[derive(Debug)]
struct ArchivedFile {
    name: String,
    method: u16,
    checksum: u32,
    packed: usize,
    size: usize,
    offset: usize,
}

impl<'b> Archive<'b> {
    pub fn new(bytes: &'b [u8]) -> Result<Self, ZipError> {
        let last = bytes.len().checked_sub(END_SIZE).ok_or(ZipError::NoArchive)?;
        let first = last.saturating_sub(LONGEST_TAIL);
        let is_end = |at: &usize| bytes[*at..].starts_with(&END.to_le_bytes());
        let end = (first..=last).rev().find(is_end).ok_or(ZipError::NoArchive)?;
        let count = usize::from(u16_at(bytes, end + 10)?);
        let mut at = usize_at(bytes, end + 16)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            if u32_at(bytes, at)? != CENTRAL {
                return Err(ZipError::Damaged);
            }
            let length = |field: usize| u16_at(bytes, at + field).map(usize::from);
            let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
            let text = bytes.get(at + 46..at + 46 + name).ok_or(ZipError::Damaged)?;
            entries.push(ArchivedFile {
                name: String::from_utf8_lossy(text).into_owned(),
                method: u16_at(bytes, at + 10)?,
                checksum: u32_at(bytes, at + 16)?,
                packed: usize_at(bytes, at + 20)?,
                size: usize_at(bytes, at + 24)?,
                offset: usize_at(bytes, at + 42)?,
            });
            at += 46 + name + extra + comment;
        }
        Ok(Self { bytes, entries })
    }

    /// The names of its files, in the order of the archive.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The contents of a file that has at most `limit` bytes.
    pub fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, ZipError> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| ZipError::Missing(name.to_owned()))?;
        let too_large = || ZipError::TooLarge { name: name.to_owned(), limit };
        if entry.size > limit {
            return Err(too_large());
        }
        if u32_at(self.bytes, entry.offset)? != LOCAL {
            return Err(ZipError::Damaged);
        }
        let length = |field: usize| u16_at(self.bytes, entry.offset + field).map(usize::from);
        let begin = entry.offset + 30 + length(26)? + length(28)?;
        let packed = self.bytes.get(begin..begin.saturating_add(entry.packed)).ok_or(ZipError::Damaged)?;
        let bytes = match entry.method {
            STORED => packed.to_vec(),
            DEFLATED => decompress_to_vec_with_limit(packed, limit).map_err(|_| ZipError::Damaged)?,
            _ => return Err(ZipError::Method(name.to_owned())),
        };
        if bytes.len() > limit {
            return Err(too_large());
        }
        if bytes.len() != entry.size || crc32(&bytes) != entry.checksum {
            return Err(ZipError::Checksum(name.to_owned()));
        }
        Ok(bytes)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, ZipError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map(|bytes| u16::from_le_bytes(*bytes)).ok_or(ZipError::Damaged)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, ZipError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map(|bytes| u32::from_le_bytes(*bytes)).ok_or(ZipError::Damaged)
}

fn usize_at(bytes: &[u8], at: usize) -> Result<usize, ZipError> {
    usize::try_from(u32_at(bytes, at)?).map_err(|_| ZipError::Damaged)
}
