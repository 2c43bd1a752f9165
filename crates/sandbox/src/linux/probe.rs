//! Probe: this program, started again to try one thing that a sandbox denies. It is run once free and once confined, and the
//! difference shows what this machine enforces. Each trial has a process of its own, since a limit may kill it.

#![expect(unsafe_code, reason = "no crate we use makes these calls")]
#![expect(
    clippy::disallowed_methods,
    reason = "the command that starts a probe has made the files that it opens"
)]

use rustix::process::{Pid, Resource, getrlimit, test_kill_process};
use std::ffi::{OsStr, c_long};
use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;

/// The argument that makes this program a probe. The name of a trial and its target follow.
pub const PROBE_ARGUMENT: &str = "__probe";

/// The limits of a declaration that the trials of limits exceed.
pub const PROBED_LIMITS: &str =
    r#""memory":"128M","cpuSecs":1,"processes":32,"openFiles":32,"fileSize":"1M""#;

/// Exceeds each of [`PROBED_LIMITS`].
const MANY: usize = 64;
const LARGE_MEMORY: usize = 512 * 1024 * 1024;
const LARGE_FILE: usize = 2 * 1024 * 1024;

/// The trials, by their names on the command line.
macro_rules! trials {
    ($($name:literal = $trial:ident,)*) => {
        /// One thing that a probe tries.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Trial {
            $($trial,)*
        }

        impl Trial {
            pub const ALL: &[Self] = &[$(Self::$trial,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$trial => $name,)*
                }
            }
        }
    };
}

trials! {
    "read a file" = ReadFile,
    "list a folder" = ListFolder,
    "create a file" = CreateFile,
    "truncate a file" = TruncateFile,
    "connect by IPv4" = ConnectIpv4,
    "connect by IPv6" = ConnectIpv6,
    "send UDP" = SendUdp,
    "connect by path" = ConnectPath,
    "connect by abstract name" = ConnectAbstract,
    "signal a process" = SignalProcess,
    "read /proc of a process" = ReadProcess,
    "make a namespace" = MakeNamespace,
    "use a keyring" = UseKeyring,
    "use io_uring" = UseIoUring,
    "trace a process" = TraceProcess,
    "use more memory" = UseMemory,
    "use more processor time" = UseProcessor,
    "start more threads" = StartThreads,
    "open more files" = OpenFiles,
    "write a larger file" = WriteLargeFile,
}

/// Runs the probe if this process was started as one. To be called first in `main`. The exit code is 0 if the trial
/// succeeded; otherwise the reason is on standard output.
pub fn run_probe_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != PROBE_ARGUMENT {
        return None;
    }
    let name = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let trial = Trial::ALL.iter().find(|trial| name == trial.name());
    let tried = match trial {
        Some(trial) => trial.run(&target),
        None => Err(io::Error::other("there is no such trial")),
    };
    Some(match tried {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stdout(), "{error}");
            ExitCode::FAILURE
        }
    })
}

impl Trial {
    fn run(self, target: &OsStr) -> io::Result<()> {
        let path = Path::new(target);
        let text = target.to_str().unwrap_or_default();
        match self {
            Self::ReadFile => File::open(path)?.read(&mut [0; 1]).map(drop),
            Self::ListFolder => fs::read_dir(path).map(drop),
            Self::CreateFile => {
                File::create(path)?;
                fs::remove_file(path)
            }
            Self::TruncateFile => rustix::fs::open(
                path,
                rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::TRUNC | rustix::fs::OFlags::CLOEXEC,
                rustix::fs::Mode::empty(),
            )
            .map(drop)
            .map_err(io::Error::from),
            Self::ConnectIpv4 | Self::ConnectIpv6 => TcpStream::connect(text).map(drop),
            Self::SendUdp => UdpSocket::bind("127.0.0.1:0")?.send_to(b"probe", text).map(drop),
            Self::ConnectPath => UnixStream::connect(path).map(drop),
            Self::ConnectAbstract => {
                let address = SocketAddr::from_abstract_name(target.as_bytes())?;
                UnixStream::connect_addr(&address).map(drop)
            }
            Self::SignalProcess => Ok(test_kill_process(process(text)?)?),
            Self::ReadProcess => fs::read(format!("/proc/{text}/cmdline")).map(drop),
            // SAFETY: It changes only what this process sees; it has one thread and exits.
            Self::MakeNamespace => answered(c_long::from(unsafe { libc::unshare(libc::CLONE_NEWUSER) }), &[]),
            // The process keyring, which usually does not exist.
            // SAFETY: It takes no memory of ours.
            Self::UseKeyring => {
                answered(unsafe { libc::syscall(libc::SYS_keyctl, 0, -2, 0) }, &[libc::ENOKEY])
            }
            // A ring without entries, which is refused as an invalid argument.
            // SAFETY: The kernel reads no memory at a null pointer.
            Self::UseIoUring => answered(
                unsafe { libc::syscall(libc::SYS_io_uring_setup, 0, std::ptr::null::<u8>()) },
                &[libc::EINVAL, libc::EFAULT],
            ),
            // A process that does not exist.
            // SAFETY: It takes no memory of ours.
            Self::TraceProcess => answered(
                unsafe { libc::syscall(libc::SYS_ptrace, libc::PTRACE_SEIZE, i32::MAX, 0, 0) },
                &[libc::ESRCH],
            ),
            Self::UseMemory => {
                let mut memory: Vec<u8> = Vec::new();
                memory.try_reserve_exact(LARGE_MEMORY).map_err(io::Error::other)?;
                black_box(&mut memory);
                Ok(())
            }
            Self::UseProcessor => use_processor(),
            Self::StartThreads => start_threads(),
            Self::OpenFiles => {
                let files = (0..MANY).map(|_| File::open("/dev/null"));
                files.collect::<io::Result<Vec<File>>>().map(drop)
            }
            Self::WriteLargeFile => {
                let path = std::env::temp_dir().join("probe-large");
                let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
                let written = file.write_all(&vec![b'x'; LARGE_FILE]);
                let _ = fs::remove_file(path);
                written
            }
        }
    }
}

fn process(text: &str) -> io::Result<Pid> {
    let number = text.parse().ok().and_then(Pid::from_raw);
    number.ok_or_else(|| io::Error::other("there is no such process"))
}

/// Whether the kernel carried a system call out, or answered it as one that it allows.
fn answered(returned: c_long, allowed: &[i32]) -> io::Result<()> {
    let error = io::Error::last_os_error();
    let is_allowed = error.raw_os_error().is_some_and(|number| allowed.contains(&number));
    if returned >= 0 || is_allowed { Ok(()) } else { Err(error) }
}

/// Uses more than its limit of processor time. Without a limit nothing would stop it, so that it need not try.
fn use_processor() -> io::Result<()> {
    let Some(limit) = getrlimit(Resource::Cpu).current else { return Ok(()) };
    let enough = limit.saturating_add(2);
    while used_seconds()? < enough {
        (0..1_000_000_u32).for_each(|number| {
            black_box(number);
        });
    }
    Ok(())
}

/// The processor time of this process so far.
fn used_seconds() -> io::Result<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: The kernel writes a structure of that type, which outlives the call.
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(time.tv_sec.try_into().unwrap_or_default())
}

/// Starts threads that are alive at the same time.
fn start_threads() -> io::Result<()> {
    let mut threads = Vec::new();
    for _ in 0..MANY {
        let (sender, receiver) = mpsc::channel::<()>();
        let waits = move || {
            let _ = receiver.recv();
        };
        threads.push((sender, std::thread::Builder::new().stack_size(64 * 1024).spawn(waits)?));
    }
    Ok(())
}
