//! The numbers of system calls.
//!
//! Both columns are in every build, so that the tests check both. The tests also compare the column of the build with
//! the constants of the crate `libc`.

/// The processors that have a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    X86_64,
    Aarch64,
}

/// A system call, by its number on each processor that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    x86_64: Option<u32>,
    aarch64: Option<u32>,
}

impl Architecture {
    /// The x32 ABI and big-endian processors have no column.
    pub(super) fn of_this_build() -> Option<Self> {
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            Some(Self::X86_64)
        } else if cfg!(all(target_arch = "aarch64", target_pointer_width = "64", target_endian = "little")) {
            Some(Self::Aarch64)
        } else {
            None
        }
    }

    /// The name of the ABI in the data of a filter (`AUDIT_ARCH_*`): its ELF machine, 64-bit, little-endian.
    pub(super) fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xC000_003E,
            Self::Aarch64 => 0xC000_00B7,
        }
    }

    pub(super) fn number(self, call: Call) -> Option<u32> {
        match self {
            Self::X86_64 => call.x86_64,
            Self::Aarch64 => call.aarch64,
        }
    }
}

/// The newest call that was considered: `file_setattr` of Linux 6.17. All numbers from 424 on are the same on every
/// processor.
pub(super) const NEWEST: u32 = 469;

/// `NAME: constant in libc = number on x86-64, number on aarch64`.
macro_rules! calls {
    ($($name:ident: $libc:ident = $x86_64:literal, $aarch64:literal;)*) => {
        $(pub(super) const $name: Call = Call { x86_64: Some($x86_64), aarch64: Some($aarch64) };)*

        #[test]
        fn numbers_are_those_of_libc() {
            let architecture = Architecture::of_this_build().unwrap();
            $(assert_eq!(architecture.number($name).map(i64::from), Some(libc::$libc), stringify!($name));)*
        }
    };
}

/// `NAME: constant in libc = number on x86-64`.
macro_rules! calls_of_x86_64 {
    ($($name:ident: $libc:ident = $x86_64:literal;)*) => {
        $(pub(super) const $name: Call = Call { x86_64: Some($x86_64), aarch64: None };)*

        #[cfg(target_arch = "x86_64")]
        #[test]
        fn numbers_of_x86_64_are_those_of_libc() {
            $(assert_eq!($name.x86_64.map(i64::from), Some(libc::$libc), stringify!($name));)*
        }
    };
}

/// `NAME = number on x86-64, number on aarch64`: not in `libc`, or not for every C library.
macro_rules! calls_without_constants {
    ($($name:ident = $x86_64:literal, $aarch64:literal;)*) => {
        $(pub(super) const $name: Call = Call { x86_64: Some($x86_64), aarch64: Some($aarch64) };)*
    };
}

calls! {
    ACCT: SYS_acct = 163, 89;
    ADD_KEY: SYS_add_key = 248, 217;
    ADJTIMEX: SYS_adjtimex = 159, 171;
    BIND: SYS_bind = 49, 200;
    BPF: SYS_bpf = 321, 280;
    CHROOT: SYS_chroot = 161, 51;
    CLOCK_ADJTIME: SYS_clock_adjtime = 305, 266;
    CLOCK_SETTIME: SYS_clock_settime = 227, 112;
    CLONE: SYS_clone = 56, 220;
    CLONE3: SYS_clone3 = 435, 435;
    CONNECT: SYS_connect = 42, 203;
    DELETE_MODULE: SYS_delete_module = 176, 106;
    EXECVE: SYS_execve = 59, 221;
    EXECVEAT: SYS_execveat = 322, 281;
    FACCESSAT: SYS_faccessat = 269, 48;
    FACCESSAT2: SYS_faccessat2 = 439, 439;
    FANOTIFY_INIT: SYS_fanotify_init = 300, 262;
    FINIT_MODULE: SYS_finit_module = 313, 273;
    FSCONFIG: SYS_fsconfig = 431, 431;
    FSMOUNT: SYS_fsmount = 432, 432;
    FSOPEN: SYS_fsopen = 430, 430;
    FSPICK: SYS_fspick = 433, 433;
    INIT_MODULE: SYS_init_module = 175, 105;
    IOCTL: SYS_ioctl = 16, 29;
    IOPRIO_SET: SYS_ioprio_set = 251, 30;
    IO_URING_ENTER: SYS_io_uring_enter = 426, 426;
    IO_URING_REGISTER: SYS_io_uring_register = 427, 427;
    IO_URING_SETUP: SYS_io_uring_setup = 425, 425;
    KCMP: SYS_kcmp = 312, 272;
    KEXEC_LOAD: SYS_kexec_load = 246, 104;
    KEYCTL: SYS_keyctl = 250, 219;
    LINKAT: SYS_linkat = 265, 37;
    LISTEN: SYS_listen = 50, 201;
    LOOKUP_DCOOKIE: SYS_lookup_dcookie = 212, 18;
    MKDIRAT: SYS_mkdirat = 258, 34;
    MKNODAT: SYS_mknodat = 259, 33;
    MOUNT: SYS_mount = 165, 40;
    MOUNT_SETATTR: SYS_mount_setattr = 442, 442;
    MOVE_MOUNT: SYS_move_mount = 429, 429;
    NAME_TO_HANDLE_AT: SYS_name_to_handle_at = 303, 264;
    NEWFSTATAT: SYS_newfstatat = 262, 79;
    NFSSERVCTL: SYS_nfsservctl = 180, 42;
    OPENAT: SYS_openat = 257, 56;
    OPENAT2: SYS_openat2 = 437, 437;
    OPEN_BY_HANDLE_AT: SYS_open_by_handle_at = 304, 265;
    OPEN_TREE: SYS_open_tree = 428, 428;
    PERF_EVENT_OPEN: SYS_perf_event_open = 298, 241;
    PIDFD_GETFD: SYS_pidfd_getfd = 438, 438;
    PIVOT_ROOT: SYS_pivot_root = 155, 41;
    PRLIMIT64: SYS_prlimit64 = 302, 261;
    PROCESS_MADVISE: SYS_process_madvise = 440, 440;
    PROCESS_VM_READV: SYS_process_vm_readv = 310, 270;
    PROCESS_VM_WRITEV: SYS_process_vm_writev = 311, 271;
    PTRACE: SYS_ptrace = 101, 117;
    QUOTACTL: SYS_quotactl = 179, 60;
    QUOTACTL_FD: SYS_quotactl_fd = 443, 443;
    REBOOT: SYS_reboot = 169, 142;
    RENAMEAT: SYS_renameat = 264, 38;
    RENAMEAT2: SYS_renameat2 = 316, 276;
    REQUEST_KEY: SYS_request_key = 249, 218;
    SCHED_SETAFFINITY: SYS_sched_setaffinity = 203, 122;
    SCHED_SETATTR: SYS_sched_setattr = 314, 274;
    SCHED_SETPARAM: SYS_sched_setparam = 142, 118;
    SCHED_SETSCHEDULER: SYS_sched_setscheduler = 144, 119;
    SENDMMSG: SYS_sendmmsg = 307, 269;
    SENDMSG: SYS_sendmsg = 46, 211;
    SENDTO: SYS_sendto = 44, 206;
    SETDOMAINNAME: SYS_setdomainname = 171, 162;
    SETHOSTNAME: SYS_sethostname = 170, 161;
    SETNS: SYS_setns = 308, 268;
    SETPRIORITY: SYS_setpriority = 141, 140;
    SETSOCKOPT: SYS_setsockopt = 54, 208;
    SETTIMEOFDAY: SYS_settimeofday = 164, 170;
    SOCKET: SYS_socket = 41, 198;
    SOCKETPAIR: SYS_socketpair = 53, 199;
    STATX: SYS_statx = 332, 291;
    SWAPOFF: SYS_swapoff = 168, 225;
    SWAPON: SYS_swapon = 167, 224;
    SYMLINKAT: SYS_symlinkat = 266, 36;
    SYSLOG: SYS_syslog = 103, 116;
    TRUNCATE: SYS_truncate = 76, 45;
    UMOUNT2: SYS_umount2 = 166, 39;
    UNLINKAT: SYS_unlinkat = 263, 35;
    UNSHARE: SYS_unshare = 272, 97;
    USERFAULTFD: SYS_userfaultfd = 323, 282;
    VHANGUP: SYS_vhangup = 153, 58;
}

calls_of_x86_64! {
    ACCESS: SYS_access = 21;
    CREAT: SYS_creat = 85;
    IOPERM: SYS_ioperm = 173;
    IOPL: SYS_iopl = 172;
    LINK: SYS_link = 86;
    LSTAT: SYS_lstat = 6;
    MKDIR: SYS_mkdir = 83;
    MKNOD: SYS_mknod = 133;
    MODIFY_LDT: SYS_modify_ldt = 154;
    OPEN: SYS_open = 2;
    RENAME: SYS_rename = 82;
    RMDIR: SYS_rmdir = 84;
    STAT: SYS_stat = 4;
    SYMLINK: SYS_symlink = 88;
    SYSCTL: SYS__sysctl = 156;
    UNLINK: SYS_unlink = 87;
    USELIB: SYS_uselib = 134;
}

calls_without_constants! {
    KEXEC_FILE_LOAD = 320, 294;
    LISTMOUNT = 458, 458;
    LSM_SET_SELF_ATTR = 460, 460;
    OPEN_TREE_ATTR = 467, 467;
    STATMOUNT = 457, 457;
}
