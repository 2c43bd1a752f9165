//! ZIP writer. Files have a fixed time and one of two modes, so that the same files are the same bytes.

use super::crc32::crc32;
use super::{CENTRAL, DEFLATED, END, LOCAL, STORED};
use miniz_oxide::deflate::compress_to_vec;
use std::io::{self, Write};

/// Good compression without taking long.
const LEVEL: u8 = 6;
/// Names are UTF-8.
const UTF8_NAMES: u16 = 1 << 11;
/// The version of the format that is needed to read it.
const NEEDED: u16 = 20;
/// Made on Unix, whose modes are in the upper half of the attributes.
const MADE_ON_UNIX: u16 = (3 << 8) | NEEDED;
/// 1980-01-01, the first day that the format knows.
const DATE: u16 = (1 << 5) | 1;
const REGULAR_FILE: u32 = 0o100_000;

pub struct ZipWriter<W> {
    out: W,
    written: u64,
    central: Vec<u8>,
    count: u16,
}

impl<W: Write> ZipWriter<W> {
    pub fn new(out: W) -> Self {
        Self { out, written: 0, central: Vec::new(), count: 0 }
    }

    /// Adds a file. Programs have mode 0755, other files 0644.
    pub fn add(&mut self, name: &str, bytes: &[u8], is_program: bool) -> io::Result<()> {
        let too_much = |_| io::Error::new(io::ErrorKind::FileTooLarge, "the archive would exceed 4 GB");
        let deflated = compress_to_vec(bytes, LEVEL);
        let (method, data) =
            if deflated.len() < bytes.len() { (DEFLATED, &deflated[..]) } else { (STORED, bytes) };
        let sizes = [data.len(), bytes.len()].map(u32::try_from);
        let [packed, size] = [sizes[0].map_err(too_much)?, sizes[1].map_err(too_much)?];
        let offset = u32::try_from(self.written).map_err(too_much)?;
        let name_length = u16::try_from(name.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidFilename, "a name in the archive is too long")
        })?;

        let mut head = Vec::with_capacity(30 + name.len());
        push_u16(&mut head, &[NEEDED, UTF8_NAMES, method, 0, DATE]);
        push_u32(&mut head, &[crc32(bytes), packed, size]);
        push_u16(&mut head, &[name_length, 0]);
        let mut local = LOCAL.to_le_bytes().to_vec();
        local.extend(&head);
        local.extend(name.as_bytes());
        self.out.write_all(&local)?;
        self.out.write_all(data)?;
        self.written += (local.len() + data.len()) as u64;

        let mode = REGULAR_FILE | if is_program { 0o755 } else { 0o644 };
        push_u32(&mut self.central, &[CENTRAL]);
        push_u16(&mut self.central, &[MADE_ON_UNIX]);
        self.central.extend(&head);
        push_u16(&mut self.central, &[0, 0, 0]);
        push_u32(&mut self.central, &[mode << 16, offset]);
        self.central.extend(name.as_bytes());
        self.count =
            self.count.checked_add(1).ok_or_else(|| io::Error::other("the archive has too many files"))?;
        Ok(())
    }

    /// Writes the directory of the archive.
    pub fn finish(mut self) -> io::Result<W> {
        let too_much = |_| io::Error::new(io::ErrorKind::FileTooLarge, "the archive would exceed 4 GB");
        let offset = u32::try_from(self.written).map_err(too_much)?;
        let size = u32::try_from(self.central.len()).map_err(too_much)?;
        let mut end = END.to_le_bytes().to_vec();
        push_u16(&mut end, &[0, 0, self.count, self.count]);
        push_u32(&mut end, &[size, offset]);
        push_u16(&mut end, &[0]);
        self.out.write_all(&self.central)?;
        self.out.write_all(&end)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn push_u16(bytes: &mut Vec<u8>, numbers: &[u16]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn push_u32(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}
