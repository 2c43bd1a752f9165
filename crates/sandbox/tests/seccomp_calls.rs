//! Real system calls under the filter, as root and as a user without privileges. A child makes the calls and reports
//! their errors.

#![cfg(all(
    target_os = "linux",
    not(mcp_bash_portable),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![expect(unsafe_code, reason = "calls that no safe interface offers are what is tested")]

#[path = "stage/mod.rs"]
mod stage;

use libc::{EAFNOSUPPORT, ENOSYS, EOPNOTSUPP, EPERM, EPROTONOSUPPORT, c_long};
use mcp_bash_sandbox::{Filter, FilterChoices, Sockets};
use stage::{Call, Way, errors, errors_in, filter, users};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Invalid as a pointer, a descriptor, a process and a set of flags: a call that is not denied does nothing.
const BAD: c_long = -1;

fn bad(number: c_long) -> Call {
    Call { number, arguments: [BAD; 6] }
}

fn call<const N: usize>(number: c_long, arguments: [c_long; N]) -> Call {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    Call { number, arguments: all }
}

fn refused() -> Vec<(c_long, i32)> {
    let mut refused = vec![
        (libc::SYS_mount, EPERM),
        (libc::SYS_umount2, EPERM),
        (libc::SYS_pivot_root, EPERM),
        (libc::SYS_chroot, EPERM),
        (libc::SYS_move_mount, EPERM),
        (libc::SYS_open_tree, EPERM),
        (467, EPERM),
        (libc::SYS_fsopen, EPERM),
        (libc::SYS_fsconfig, EPERM),
        (libc::SYS_fsmount, EPERM),
        (libc::SYS_fspick, EPERM),
        (libc::SYS_mount_setattr, EPERM),
        (457, ENOSYS),
        (458, ENOSYS),
        (460, EPERM),
        (libc::SYS_open_by_handle_at, EPERM),
        (libc::SYS_name_to_handle_at, EPERM),
        (libc::SYS_unshare, EPERM),
        (libc::SYS_setns, EPERM),
        (libc::SYS_clone3, ENOSYS),
        (libc::SYS_ptrace, EPERM),
        (libc::SYS_process_vm_readv, EPERM),
        (libc::SYS_process_vm_writev, EPERM),
        (libc::SYS_process_madvise, EPERM),
        (libc::SYS_pidfd_getfd, EPERM),
        (libc::SYS_kcmp, EPERM),
        (libc::SYS_io_uring_setup, ENOSYS),
        (libc::SYS_io_uring_enter, ENOSYS),
        (libc::SYS_io_uring_register, ENOSYS),
        (libc::SYS_bpf, EPERM),
        (libc::SYS_perf_event_open, EPERM),
        (libc::SYS_userfaultfd, EPERM),
        (libc::SYS_keyctl, EPERM),
        (libc::SYS_add_key, EPERM),
        (libc::SYS_request_key, EPERM),
        (libc::SYS_fanotify_init, EPERM),
        (libc::SYS_kexec_load, EPERM),
        (libc::SYS_init_module, EPERM),
        (libc::SYS_finit_module, EPERM),
        (libc::SYS_delete_module, EPERM),
        (libc::SYS_reboot, EPERM),
        (libc::SYS_settimeofday, EPERM),
        (libc::SYS_clock_settime, EPERM),
        (libc::SYS_clock_adjtime, EPERM),
        (libc::SYS_adjtimex, EPERM),
        (libc::SYS_sethostname, EPERM),
        (libc::SYS_setdomainname, EPERM),
        (libc::SYS_swapon, EPERM),
        (libc::SYS_swapoff, EPERM),
        (libc::SYS_acct, EPERM),
        (libc::SYS_quotactl, EPERM),
        (libc::SYS_quotactl_fd, EPERM),
        (libc::SYS_vhangup, EPERM),
        (libc::SYS_syslog, EPERM),
        (libc::SYS_lookup_dcookie, ENOSYS),
        (libc::SYS_nfsservctl, ENOSYS),
    ];
    #[cfg(target_arch = "x86_64")]
    refused.extend([
        (libc::SYS_kexec_file_load, EPERM),
        (libc::SYS_iopl, EPERM),
        (libc::SYS_ioperm, EPERM),
        (libc::SYS_modify_ldt, ENOSYS),
        (libc::SYS__sysctl, ENOSYS),
        (libc::SYS_uselib, ENOSYS),
    ]);
    // Newer than the table.
    refused.extend([(470, ENOSYS), (599, ENOSYS)]);
    refused
}

#[test]
fn calls_of_the_list_fail() {
    let refused = refused();
    let calls: Vec<Call> = refused.iter().map(|(number, _)| bad(*number)).collect();
    for user in users() {
        for sockets in [Sockets::All, Sockets::Isolated, Sockets::TcpOnly, Sockets::None] {
            for (unix_sockets, way) in [(true, Way::AtOnce), (false, Way::AtOnce), (true, Way::InTwoParts)] {
                let filter = filter(FilterChoices { sockets, unix_sockets });
                let found = errors_in(way, Some(&filter), user, &calls);
                for ((number, error), found) in refused.iter().zip(found) {
                    assert_eq!(found, *error, "call {number} as {user:?} with {sockets:?}, {way:?}");
                }
            }
        }
    }
}

/// Without the filter, these calls get as far as their bad arguments: so it is the filter that stops them. They are
/// the ones that containers allow too.
#[test]
fn it_is_the_filter_that_stops_calls() {
    let calls = [
        libc::SYS_name_to_handle_at,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
    ];
    for user in users() {
        let found = errors(None, user, &calls.map(bad));
        assert_eq!(
            found,
            [libc::EINVAL, libc::ESRCH, libc::EINVAL, libc::EFAULT, libc::EFAULT],
            "as {user:?}"
        );
    }
}

#[test]
fn arguments_decide() {
    const IGNORED: c_long = 0x5EAD_BEEF_0000_0000;
    let folder = tempfile::tempdir().unwrap();
    let device = std::ffi::CString::new(format!("{}/device", folder.path().display())).unwrap();
    let limit = libc::rlimit64 { rlim_cur: 64, rlim_max: 64 };
    let limit = (&raw const limit).expose_provenance().cast_signed() as c_long;
    let path = device.as_ptr().expose_provenance().cast_signed() as c_long;
    let at = c_long::from(libc::AT_FDCWD);
    let parent = c_long::from(std::process::id());
    let new_user = c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    let denied = [
        call(libc::SYS_clone, [new_user, 0, 0, 0, 0]),
        call(libc::SYS_clone, [new_user | IGNORED, 0, 0, 0, 0]),
        call(libc::SYS_ioctl, [0, 0x5412, BAD]),
        call(libc::SYS_ioctl, [0, 0x5412 | IGNORED, BAD]),
        call(libc::SYS_ioctl, [0, 0x541C, BAD]),
        call(libc::SYS_mknodat, [at, path, 0o020_666, 0x103]),
        call(libc::SYS_mknodat, [at, path, 0o060_666 | IGNORED, 0x103]),
        call(libc::SYS_prlimit64, [parent, 7, limit, 0]),
    ];
    let allowed = [
        call(libc::SYS_prlimit64, [0, 7, limit, 0]),
        call(libc::SYS_prlimit64, [0, 7, 0, limit]),
        call(libc::SYS_memfd_create, [path, 0]),
        call(libc::SYS_getpid, []),
    ];
    for user in users() {
        let filter = filter(FilterChoices { sockets: Sockets::All, unix_sockets: true });
        assert_eq!(errors(Some(&filter), user, &denied), [EPERM; 8], "as {user:?}");
        assert!(!folder.path().join("device").exists());
        assert_eq!(errors(Some(&filter), user, &allowed), [0; 4], "as {user:?}");
    }
    let filter = filter(FilterChoices { sockets: Sockets::All, unix_sockets: true });
    let pipe = call(libc::SYS_mknodat, [at, path, 0o010_666, 0]);
    assert_eq!(errors(Some(&filter), users()[0], &[pipe]), [0]);
    assert!(folder.path().join("device").exists());
}

#[test]
fn sockets_are_those_of_the_choice() {
    let socket = |family: i32, kind: i32, protocol: i32| {
        call(libc::SYS_socket, [family, kind, protocol].map(c_long::from))
    };
    let calls = [
        socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0),
        socket(libc::AF_INET, libc::SOCK_DGRAM, 0),
        socket(libc::AF_INET, libc::SOCK_STREAM, 262),
        socket(libc::AF_UNIX, libc::SOCK_STREAM, 0),
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE),
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_NETFILTER),
        socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
        socket(libc::AF_PACKET, libc::SOCK_RAW, 0x300),
    ];
    let others = [0, EPROTONOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT];
    for user in users() {
        let found = |sockets, unix_sockets| {
            let found = errors(Some(&filter(FilterChoices { sockets, unix_sockets })), user, &calls);
            assert_eq!(found[4..], others, "as {user:?} with {sockets:?}");
            [found[0], found[1], found[2], found[3]]
        };
        for sockets in [Sockets::All, Sockets::Isolated] {
            let [tcp, udp, _, unix] = found(sockets, true);
            assert_eq!([tcp, udp, unix], [0; 3]);
        }
        assert_eq!(found(Sockets::TcpOnly, true), [0, EPROTONOSUPPORT, EPROTONOSUPPORT, 0]);
        assert_eq!(found(Sockets::None, false), [EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT]);
    }
}

/// A datagram socket of a pair can be connected to another one. The friendly half shows that it is true without the
/// filter; under the filter there is no such pair.
#[test]
fn a_pair_does_not_lead_to_other_sockets() {
    let name = format!("mcp-bash-{}", std::process::id());
    let outside = SocketAddr::from_abstract_name(&name).unwrap();
    let outside = UnixDatagram::bind_addr(&outside).unwrap();
    let mut address = [0_u8; 110];
    address[0] = 1;
    address[3..3 + name.len()].copy_from_slice(name.as_bytes());
    let mut pair = [-1_i32; 2];
    let pair = (&raw mut pair).expose_provenance().cast_signed() as c_long;
    let destination = (&raw const address).expose_provenance().cast_signed() as c_long;
    let size = c_long::try_from(3 + name.len()).unwrap();
    let calls = |kind: i32| {
        [
            // Descriptors from 3 on are closed in the child, so the pair is 3 and 4.
            call(libc::SYS_close_range, [3, c_long::from(u32::MAX), 0]),
            call(libc::SYS_socketpair, [1, c_long::from(kind), 0, pair]),
            call(libc::SYS_sendto, [3, destination, 1, 0, destination, size]),
        ]
    };
    for user in users() {
        assert_eq!(errors(None, user, &calls(libc::SOCK_DGRAM)), [0; 3]);
        outside.recv(&mut [0; 8]).unwrap();
        let filter = filter(FilterChoices { sockets: Sockets::None, unix_sockets: false });
        let found = errors(Some(&filter), user, &calls(libc::SOCK_DGRAM));
        assert_eq!(found, [0, EPROTONOSUPPORT, libc::EBADF], "as {user:?}");
        assert_eq!(errors(Some(&filter), user, &calls(libc::SOCK_STREAM)), [0, 0, libc::EISCONN]);
    }
    outside.set_nonblocking(true).unwrap();
    assert!(outside.recv(&mut [0; 8]).is_err(), "nothing got out");
}

/// Landlock sees `connect` only.
#[test]
fn tcp_can_only_be_connected() {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port().to_be_bytes();
    let address = [2, 0, port[0], port[1], 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0_u8];
    let address = (&raw const address).expose_provenance().cast_signed() as c_long;
    let one = 1_i32;
    let one = (&raw const one).expose_provenance().cast_signed() as c_long;
    let fast_open = c_long::from(libc::MSG_FASTOPEN);
    let option = |name: i32| call(libc::SYS_setsockopt, [3, 6, c_long::from(name), one, 4]);
    let calls = [
        call(libc::SYS_close_range, [3, c_long::from(u32::MAX), 0]),
        call(libc::SYS_socket, [2, 1, 0]),
        call(libc::SYS_sendto, [3, address, 16, fast_open, address, 16]),
        option(libc::TCP_FASTOPEN_CONNECT),
        option(libc::TCP_FASTOPEN),
        option(libc::TCP_NODELAY),
        call(libc::SYS_listen, [3, 1]),
        call(libc::SYS_connect, [3, address, 16]),
        call(libc::SYS_sendto, [3, address, 16, 0, 0, 0]),
    ];
    for user in users() {
        let filter = filter(FilterChoices { sockets: Sockets::TcpOnly, unix_sockets: true });
        let found = errors(Some(&filter), user, &calls);
        assert_eq!(found, [0, 0, EOPNOTSUPP, EOPNOTSUPP, EOPNOTSUPP, 0, EPERM, 0, 0], "as {user:?}");
    }
}

/// A call of 32-bit programs, by the interrupt that any program can use.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_call_of_another_abi_kills() {
    let program = filter(FilterChoices { sockets: Sockets::All, unix_sockets: true });
    let status = stage::in_child(|| {
        stage::confine(Way::AtOnce, Some(&program), None);
        // SAFETY: `getpid` of i386 only changes the register of its result.
        unsafe { std::arch::asm!("int 0x80", inlateout("eax") 20 => _) };
    });
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS, "status {status:#x}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_of_the_x32_abi_do_not_exist() {
    let filter = filter(FilterChoices { sockets: Sockets::All, unix_sockets: true });
    let x32 = |number: c_long| bad(number | 0x4000_0000);
    let calls = [libc::SYS_getpid, libc::SYS_mount, libc::SYS_ptrace].map(x32);
    assert_eq!(errors(Some(&filter), users()[0], &calls), [ENOSYS; 3]);
}

#[test]
fn a_filter_needs_no_new_privileges() {
    let filter = Filter::new(FilterChoices { sockets: Sockets::None, unix_sockets: false }).unwrap();
    let status = stage::in_child(|| {
        stage::become_nobody();
        let refused = filter.apply() == Err(rustix::io::Errno::ACCESS);
        stage::exit(i32::from(!refused));
    });
    assert_eq!(libc::WEXITSTATUS(status), 0, "status {status:#x}");
}
