//! Attacks on a sandbox: `hostile ATTACK [PARAMETER...]` tries one of them and prints one line of JSON,
//! `{"attack":"…","done":true,"errno":null,"note":"…"}`. `done` says whether the attack had its effect. The
//! exit code is 0 in both cases, and 2 for a wrong command line.
//!
//! Attacks only touch the files, sockets and processes that their parameters name. All loops are bounded, and
//! everything that an attack starts is gone when it exits.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
