//! Landlock: files, TCP ports, abstract sockets and signals, restricted by the kernel without privileges.
//!
//! The kernel is asked for each right: version numbers mislead, since vendors backport parts of them. A ruleset is built
//! once and inherited as a descriptor; a child applies it to itself with one system call.

#![expect(unsafe_code, reason = "no crate we use offers these calls with rights that are probed one by one")]

use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;
use std::ffi::{c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::ptr::null;
use std::sync::OnceLock;

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
const RESOLVE_UNIX: u64 = 1 << 16;

/// The rights of the first version, without which there is no Landlock for us.
const FIRST: u64 = (1 << 13) - 1;

/// What can be granted on a file that is no folder.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX;

const BIND_TCP: u64 = 1 << 0;
const CONNECT_TCP: u64 = 1 << 1;

const SCOPE_ABSTRACT_SOCKETS: u64 = 1 << 0;
const SCOPE_SIGNALS: u64 = 1 << 1;

const RULE_PATH_BENEATH: c_int = 1;
const RULE_NET_PORT: c_int = 2;

#[repr(C)]
#[derive(Default, Clone, Copy)]
struct RulesetAttributes {
    files: u64,
    network: u64,
    scopes: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: c_int,
}

#[repr(C)]
struct NetPort {
    allowed: u64,
    port: u64,
}

/// The rights that this kernel can withhold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LandlockRights {
    files: u64,
    network: u64,
    scopes: u64,
}

impl LandlockRights {
    /// Those of the running kernel, asked for one by one. `None` if it has no Landlock, or does not allow it. An error is a
    /// shortage, which says nothing about Landlock.
    pub fn of_kernel() -> Result<Option<Self>, Errno> {
        static RIGHTS: OnceLock<Option<LandlockRights>> = OnceLock::new();
        if let Some(rights) = RIGHTS.get() {
            return Ok(*rights);
        }
        let all = |known: u64, attributes: fn(u64) -> RulesetAttributes| {
            let bits = (0..64).map(|bit| 1 << bit).filter(|bit| known & bit != 0);
            bits.filter_map(|bit| match create(attributes(bit)) {
                Ok(_) => Some(Ok(bit)),
                Err(error) => shortage(&error).map(Err),
            })
            .sum::<Result<u64, Errno>>()
        };
        let files = all(FIRST | REFER | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX, |files| RulesetAttributes {
            files,
            ..RulesetAttributes::default()
        })?;
        let network = all(BIND_TCP | CONNECT_TCP, |network| RulesetAttributes {
            network,
            ..RulesetAttributes::default()
        })?;
        let scopes = all(SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS, |scopes| RulesetAttributes {
            scopes,
            ..RulesetAttributes::default()
        })?;
        let rights = (files & FIRST == FIRST).then_some(Self { files, network, scopes });
        Ok(*RIGHTS.get_or_init(|| rights))
    }

    /// Whether moving files between folders and truncating them are restricted like other writes.
    pub fn holds_all_writes(self) -> bool {
        self.files & (REFER | TRUNCATE) == REFER | TRUNCATE
    }

    pub fn holds_tcp_ports(self) -> bool {
        self.network == BIND_TCP | CONNECT_TCP
    }

    pub fn holds_signals(self) -> bool {
        self.scopes & SCOPE_SIGNALS != 0
    }

    pub fn holds_abstract_sockets(self) -> bool {
        self.scopes & SCOPE_ABSTRACT_SOCKETS != 0
    }

    /// Whether connecting to a Unix socket needs a right on its path.
    pub fn holds_unix_sockets(self) -> bool {
        self.files & RESOLVE_UNIX != 0
    }
}

/// What a process may do with a path and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read and execute.
    Read,
    /// The same, and write, create, rename and remove.
    Write,
}

/// Rules that a process can apply to itself.
#[derive(Debug)]
pub struct Ruleset(OwnedFd);

impl Ruleset {
    /// A ruleset that allows nothing yet. With `tcp`, only the TCP ports that are allowed can be connected to, and
    /// none can be bound.
    pub fn new(rights: LandlockRights, tcp: bool) -> io::Result<Self> {
        let network = if tcp { rights.network } else { 0 };
        create(RulesetAttributes { files: rights.files, network, scopes: rights.scopes }).map(Self)
    }

    /// Allows access to a path and everything below it. A path that does not exist cannot be allowed.
    pub fn allow(&self, rights: LandlockRights, path: &Path, access: Access) -> io::Result<()> {
        let parent = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let is_folder = rustix::fs::FileType::from_raw_mode(fstat(&parent)?.st_mode).is_dir();
        let wanted = match access {
            Access::Read => EXECUTE | READ_FILE | READ_DIR,
            // No device is ever made.
            Access::Write => !(MAKE_CHAR | MAKE_BLOCK),
        };
        let allowed = wanted & rights.files & if is_folder { u64::MAX } else { OF_FILES };
        let rule = PathBeneath { allowed, parent: parent.as_raw_fd() };
        self.add(RULE_PATH_BENEATH, (&raw const rule).cast())
    }

    /// Allows connecting to a TCP port.
    pub fn allow_port(&self, port: u16) -> io::Result<()> {
        let rule = NetPort { allowed: CONNECT_TCP, port: port.into() };
        self.add(RULE_NET_PORT, (&raw const rule).cast())
    }

    fn add(&self, kind: c_int, rule: *const libc::c_void) -> io::Result<()> {
        // SAFETY: The descriptor is a ruleset, and the rule is a structure of that kind that outlives the call.
        let done = unsafe { libc::syscall(libc::SYS_landlock_add_rule, self.0.as_raw_fd(), kind, rule, 0) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Restricts the calling process, which must have given up new privileges. Safe to call in the child of `vfork`.
    pub(crate) fn apply(&self) -> rustix::io::Result<()> {
        // SAFETY: The descriptor is a ruleset.
        match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), 0) } {
            0 => Ok(()),
            _ => Err(last_errno()),
        }
    }
}

/// Makes a ruleset that handles these rights. Older kernels know a shorter structure.
fn create(attributes: RulesetAttributes) -> io::Result<OwnedFd> {
    let size = match attributes {
        RulesetAttributes { network: 0, scopes: 0, .. } => 8,
        RulesetAttributes { scopes: 0, .. } => 16,
        _ => size_of::<RulesetAttributes>(),
    };
    let attributes: *const RulesetAttributes = &raw const attributes;
    // SAFETY: The structure is as large as we say, and outlives the call.
    let descriptor: c_long = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, attributes, size, 0) };
    let descriptor = c_int::try_from(descriptor).unwrap_or(-1);
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: The kernel has just opened it for us, close-on-exec; nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The error, if descriptors, processes or memory ran short, which passes.
pub(super) fn shortage(error: &io::Error) -> Option<Errno> {
    let passes = |errno: &Errno| matches!(*errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN);
    Errno::from_io_error(error).filter(passes)
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The version of its interface that the kernel claims, for people; or why it has none.
pub fn claimed_version() -> io::Result<i64> {
    // SAFETY: With this flag the kernel reads no structure.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null::<u8>(), 0, 1) };
    if version > 0 { Ok(version) } else { Err(io::Error::last_os_error()) }
}
