//! The mechanisms of machines that are not Linux: Seatbelt on macOS, and none on others.

use crate::plan::{GroupPowers, LandlockPowers, Machine};
use rustix::io::Errno;
use std::sync::OnceLock;

impl Machine {
    /// This machine. There is never an error: nothing is tried.
    pub fn this() -> Result<&'static Self, Errno> {
        static THIS: OnceLock<Machine> = OnceLock::new();
        Ok(THIS.get_or_init(|| {
            let is_root = rustix::process::geteuid().is_root();
            let groups = GroupPowers::default();
            let no_namespaces = Err("this system has no network namespaces".to_owned());
            if std::path::Path::new(crate::seatbelt::SANDBOX_EXEC).exists() {
                let powers = LandlockPowers {
                    all_writes: true,
                    tcp_ports: true,
                    signals: true,
                    abstract_sockets: true,
                    unix_sockets: true,
                };
                return Self {
                    landlock: Ok(powers),
                    seccomp: Ok(()),
                    namespaces: no_namespaces,
                    is_root,
                    groups,
                };
            }
            let none = "this system has no sandbox that is known here".to_owned();
            Self {
                landlock: Err(none.clone()),
                seccomp: Err(none),
                namespaces: no_namespaces,
                is_root,
                groups,
            }
        }))
    }
}
