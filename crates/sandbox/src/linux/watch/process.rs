//! A watched process: what its memory and its descriptors say about a call.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The longest path that the kernel takes, in bytes, with its NUL.
const LONGEST_PATH: usize = 4096;

/// The longest socket address.
const LONGEST_ADDRESS: usize = 128;

/// A page is at least this large: a read within one succeeds completely or not at all.
const PAGE: u64 = 4096;

pub(super) struct WatchedProcess {
    thread: u32,
    memory: File,
}

/// The address of a socket.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    Internet(SocketAddr),
    /// A Unix socket with a path.
    Path(PathBuf),
    /// A Unix socket without a file.
    Abstract(Vec<u8>),
}

impl WatchedProcess {
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel")]
    pub(super) fn of(thread: u32) -> Option<Self> {
        let memory = File::open(format!("/proc/{thread}/mem")).ok()?;
        Some(Self { thread, memory })
    }

    /// The path at an address, absolute unless it is relative to a descriptor that cannot be read. `None` if it is not
    /// readable, or longer than any path.
    pub(super) fn path(&self, address: u64, folder: Option<u64>) -> Option<PathBuf> {
        let path = PathBuf::from(OsString::from_vec(self.text(address)?));
        if path.is_absolute() {
            return Some(path);
        }
        let folder = match folder.map(low_half) {
            None | Some(libc::AT_FDCWD) => fs::read_link(format!("/proc/{}/cwd", self.thread)),
            Some(descriptor) => fs::read_link(format!("/proc/{}/fd/{descriptor}", self.thread)),
        }
        .ok()?;
        // An empty path names what the descriptor is open for.
        Some(if path.as_os_str().is_empty() { folder } else { folder.join(path) })
    }

    /// The socket address at an address. `None` if it has none, or one of another family.
    pub(super) fn socket_address(&self, address: u64, length: u64) -> Option<Address> {
        let length = usize::try_from(length & u64::from(u32::MAX)).ok()?.min(LONGEST_ADDRESS);
        let mut bytes = [0; LONGEST_ADDRESS];
        let bytes = &mut bytes[..length];
        self.memory.read_exact_at(bytes, address).ok()?;
        match parse(bytes)? {
            Address::Path(path) if path.is_relative() => {
                let folder = fs::read_link(format!("/proc/{}/cwd", self.thread)).ok()?;
                Some(Address::Path(folder.join(path)))
            }
            address => Some(address),
        }
    }

    pub(super) fn number(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory.read_exact_at(&mut bytes, address).ok()?;
        Some(u64::from_ne_bytes(bytes))
    }

    /// The bytes at an address up to a NUL. They are read page by page, since the next one may not exist.
    fn text(&self, address: u64) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut at = address;
        while text.len() < LONGEST_PATH {
            let length = usize::try_from(PAGE - at % PAGE).ok()?;
            let mut part = vec![0; length.min(LONGEST_PATH - text.len())];
            self.memory.read_exact_at(&mut part, at).ok()?;
            if let Some(end) = part.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(&part[..end]);
                return Some(text);
            }
            at = at.checked_add(u64::try_from(part.len()).ok()?)?;
            text.append(&mut part);
        }
        None
    }
}

/// An argument of type `int`.
pub(super) fn low_half(argument: u64) -> i32 {
    u32::try_from(argument & u64::from(u32::MAX)).unwrap_or_default().cast_signed()
}

/// A `struct sockaddr`.
fn parse(bytes: &[u8]) -> Option<Address> {
    let slice = |from: usize, to: usize| bytes.get(from..to);
    let family = i32::from(u16::from_ne_bytes(slice(0, 2)?.try_into().ok()?));
    let port = || Some(u16::from_be_bytes(slice(2, 4)?.try_into().ok()?));
    match family {
        libc::AF_INET => {
            let address: [u8; 4] = slice(4, 8)?.try_into().ok()?;
            Some(Address::Internet((Ipv4Addr::from(address), port()?).into()))
        }
        libc::AF_INET6 => {
            let address: [u8; 16] = slice(8, 24)?.try_into().ok()?;
            let address = Ipv6Addr::from(address);
            let port = port()?;
            Some(Address::Internet(match address.to_ipv4_mapped() {
                Some(address) => (address, port).into(),
                None => (address, port).into(),
            }))
        }
        libc::AF_UNIX => {
            let name = bytes.get(2..).filter(|name| !name.is_empty())?;
            if name[0] == 0 {
                return Some(Address::Abstract(name[1..].to_vec()));
            }
            let path = name.split(|byte| *byte == 0).next()?;
            Some(Address::Path(Path::new(&OsString::from_vec(path.to_vec())).to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_numbers_are_read_from_memory() {
        let process = WatchedProcess::of(std::process::id()).unwrap();
        let address = |text: &std::ffi::CStr| text.as_ptr().addr() as u64;
        assert_eq!(
            process.path(address(c"/a\n\xffb"), None),
            Some(OsString::from_vec(b"/a\n\xffb".to_vec()).into())
        );
        let here = std::env::current_dir().unwrap();
        assert_eq!(process.path(address(c"x/y"), None), Some(here.join("x/y")));
        let number = 0x1234_5678_9abc_def0_u64;
        assert_eq!(process.number(std::ptr::from_ref(&number).addr() as u64), Some(number));
        assert_eq!(process.path(16, None), None);
        let long = std::ffi::CString::new(vec![b'a'; 10_000]).unwrap();
        assert_eq!(process.path(address(&long), None), None);
    }

    #[test]
    fn socket_addresses_are_read() {
        let family = |family: i32| u16::try_from(family).unwrap().to_ne_bytes();
        let [low, high] = family(libc::AF_INET);
        let v4 = [low, high, 0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(parse(&v4), Some(Address::Internet("127.0.0.1:8080".parse().unwrap())));
        let [low, high] = family(libc::AF_UNIX);
        assert_eq!(parse(&[low, high, b'/', b's', 0, b'x']), Some(Address::Path("/s".into())));
        assert_eq!(parse(&[low, high, 0, b's']), Some(Address::Abstract(b"s".to_vec())));
        assert_eq!((parse(&[low, high]), parse(&[low]), parse(&v4[..6])), (None, None, None));
    }
}
