//! Sealed memory: a file that is in no file system, and that nobody can change.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;

pub(super) fn descriptor(value: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create("secret", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(value)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use crate::Secret;
    use std::fs::File;
    use std::io::{Read, Write};

    #[test]
    fn a_descriptor_is_read_and_never_written() {
        let mut file = File::from(Secret::new(b"hunter2-hunter2".into()).unwrap().descriptor().unwrap());
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hunter2-hunter2");
        assert!(file.write_all(b"x").is_err() && file.set_len(0).is_err());
    }
}
