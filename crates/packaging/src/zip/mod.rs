//! ZIP archives: one writer whose output depends on nothing but the files, and a reader for archives of others.

mod crc32;
mod reader;
mod writer;

pub use reader::Archive;
pub use writer::ZipWriter;

use thiserror::Error;

/// Why an archive cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ZipError {
    #[error("it is no ZIP file")]
    NoArchive,
    #[error("it is cut off or damaged")]
    Damaged,
    #[error("it has no `{0}`")]
    Missing(String),
    #[error("`{0}` is compressed in a way that is not known")]
    Method(String),
    #[error("`{name}` has more than {limit} bytes")]
    TooLarge { name: String, limit: usize },
    #[error("`{0}` is damaged: its checksum is wrong")]
    Checksum(String),
}

/// The signatures of the parts of an archive.
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archive(files: &[(&str, &[u8], bool)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Vec::new());
        for (name, bytes, is_program) in files {
            writer.add(name, bytes, *is_program).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let long = b"abc".repeat(10_000);
        let bytes =
            archive(&[("manifest.json", b"{}", false), ("server/ü", &long, false), ("bin/x", b"", true)]);
        assert!(bytes.len() < 1000, "{}", bytes.len());
        assert_eq!(
            bytes,
            archive(&[("manifest.json", b"{}", false), ("server/ü", &long, false), ("bin/x", b"", true)])
        );
        let read = Archive::new(&bytes).unwrap();
        assert_eq!(read.names().collect::<Vec<_>>(), ["manifest.json", "server/ü", "bin/x"]);
        assert_eq!(read.read("server/ü", 100_000).unwrap(), long);
        assert_eq!(read.read("bin/x", 10).unwrap(), b"");
        assert_eq!(read.read("none", 10).unwrap_err(), ZipError::Missing("none".into()));
        let limit = long.len() - 1;
        assert_eq!(
            read.read("server/ü", limit).unwrap_err(),
            ZipError::TooLarge { name: "server/ü".into(), limit }
        );
    }

    #[test]
    fn a_signature_at_the_end_does_not_matter() {
        let mut bytes = archive(&[("manifest.json", b"{}", false)]);
        bytes.extend(b"MCPB_SIG_V1 and a signature");
        assert_eq!(Archive::new(&bytes).unwrap().read("manifest.json", 10).unwrap(), b"{}");
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let bytes = archive(&[("a", b"some text that is not compressed", false)]);
        let mut damaged = bytes.clone();
        damaged[35] ^= 1;
        let read = Archive::new(&damaged).and_then(|archive| archive.read("a", 100));
        assert!(matches!(read, Err(ZipError::Checksum(_) | ZipError::Damaged)), "{read:?}");
        assert_eq!(Archive::new(b"not a zip").unwrap_err(), ZipError::NoArchive);
    }

    proptest! {
        #[test]
        fn damage_is_an_error_and_no_panic(at in 0usize..200, value: u8, cut in 0usize..200) {
            let mut bytes = archive(&[("a", b"text text text text text", false), ("b/c", b"x", true)]);
            let length = bytes.len();
            bytes[at % length] = value;
            bytes.truncate(length - cut % length);
            if let Ok(archive) = Archive::new(&bytes) {
                for name in ["a", "b/c"] {
                    let _ = archive.read(name, 1000);
                }
            }
        }
    }
}
