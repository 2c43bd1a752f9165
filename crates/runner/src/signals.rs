//! Signal names.

use rustix::process::Signal;

/// A signal by its name and number, as people know it: `SIGKILL (9)`.
pub fn signal_name(number: i32) -> String {
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    match names.iter().find(|(signal, _)| signal.as_raw() == number) {
        Some((_, name)) => format!("{name} ({number})"),
        None => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::signal_name;

    #[test]
    fn a_signal_is_named_and_one_without_a_name_is_counted() {
        assert_eq!(signal_name(9), "SIGKILL (9)");
        assert_eq!(signal_name(64), "signal 64");
    }
}
