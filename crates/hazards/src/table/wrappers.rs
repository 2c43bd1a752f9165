//! Wrappers: programs that run another one, which the following words name.

use crate::program::Role::{Assignments, Code, Command, Data, Pasted, ShellCommand};
use crate::program::{Program, TOOL, WRAPPER};

pub(crate) static ALL: &[Program] = &[
    Program {
        names: &["env"],
        flags: &[
            "-i",
            "-",
            "--ignore-environment",
            "-0",
            "--null",
            "-v",
            "--debug",
            "--default-signal",
            "--ignore-signal",
            "--block-signal",
        ],
        code: &["-S", "--split-string"],
        data: &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"],
        operands: &[Assignments],
        ..WRAPPER
    },
    Program {
        names: &["sudo", "doas", "pkexec"],
        flags: &[
            "-E",
            "-H",
            "-n",
            "-i",
            "-s",
            "-k",
            "-K",
            "-b",
            "-A",
            "-P",
            "-S",
            "-l",
            "-v",
            "-B",
            "--preserve-env",
            "--non-interactive",
            "--login",
            "--stdin",
            "--background",
        ],
        data: &[
            "-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-r", "-t", "-T", "-U",
            "-D", "--chdir", "-R",
        ],
        operands: &[Assignments],
        ..WRAPPER
    },
    Program {
        names: &["nice", "ionice", "stdbuf"],
        data: &[
            "-n",
            "--adjustment",
            "-c",
            "--class",
            "--classdata",
            "-i",
            "-o",
            "-e",
            "--input",
            "--output",
            "--error",
        ],
        ..WRAPPER
    },
    Program {
        names: &[
            "nohup",
            "setsid",
            "unbuffer",
            "dbus-run-session",
            "busybox",
            "toybox",
            "catchsegv",
            "caffeinate",
            "arch",
            "rlwrap",
            "xvfb-run",
            "proxychains",
            "torsocks",
            "firejail",
            "winpty",
        ],
        flags: &["-f", "--fork", "-w", "--wait", "-c", "--ctty", "-a", "--auto-servernum"],
        ..WRAPPER
    },
    Program {
        names: &["time"],
        flags: &["-p", "-v", "-a", "--portability", "--verbose", "--append", "--quiet"],
        data: &["-f", "--format", "-o", "--output"],
        ..WRAPPER
    },
    Program {
        names: &["timeout", "gtimeout"],
        flags: &["--foreground", "--preserve-status", "-v", "--verbose", "-p", "-f"],
        data: &["-s", "--signal", "-k", "--kill-after"],
        operands: &[Data, Command],
        ..WRAPPER
    },
    Program {
        names: &["chroot", "chrt", "taskset", "setarch", "runcon", "prlimit"],
        data: &["--userspec", "--groups"],
        operands: &[Data, Command],
        ..WRAPPER
    },
    Program {
        names: &["unshare", "nsenter", "setpriv", "capsh", "bwrap", "numactl", "cgexec", "systemd-run"],
        data: &["-t", "--target", "-u", "-g", "--uid", "--gid"],
        code: &["-p", "--property"],
        ..WRAPPER
    },
    Program {
        names: &["strace", "ltrace", "valgrind", "perf"],
        code: &["-o", "--output"],
        data: &["-e", "-p", "-u", "-s", "-E"],
        ..WRAPPER
    },
    Program {
        names: &["xargs", "gxargs"],
        flags: &[
            "-0",
            "--null",
            "-r",
            "--no-run-if-empty",
            "-t",
            "--verbose",
            "-p",
            "--interactive",
            "-x",
            "--exit",
            "-o",
            "--open-tty",
        ],
        data: &[
            "-I",
            "-n",
            "-P",
            "-d",
            "-a",
            "-L",
            "-s",
            "-E",
            "--replace",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
        ],
        input: Pasted,
        ..WRAPPER
    },
    Program { names: &["entr"], input: Data, ..WRAPPER },
    Program {
        names: &["watch", "parallel", "eval", "tmux", "screen", "xterm", "hyperfine"],
        flags: &[
            "-b",
            "-c",
            "-d",
            "-e",
            "-g",
            "-p",
            "-q",
            "-r",
            "-w",
            "-x",
            "-t",
            "--color",
            "--differences",
            "--errexit",
            "--exec",
            "--no-title",
        ],
        data: &["-n", "--interval", "-j", "--jobs", "-s", "-L", "-S"],
        operands: &[ShellCommand],
        input: Pasted,
        ..WRAPPER
    },
    Program {
        names: &["flock"],
        flags: &[
            "-s",
            "--shared",
            "-x",
            "-e",
            "--exclusive",
            "-u",
            "--unlock",
            "-n",
            "--nonblock",
            "--nb",
            "-o",
            "--close",
            "-F",
            "--no-fork",
            "-v",
            "--verbose",
        ],
        code: &["-c", "--command"],
        data: &["-w", "--wait", "--timeout", "-E", "--conflict-exit-code"],
        operands: &[Data, Command],
        ..WRAPPER
    },
    Program {
        names: &["script", "scriptlive"],
        flags: &["-q", "--quiet", "-a", "--append", "-e", "--return", "-f", "--flush", "--force"],
        code: &["-c", "--command"],
        data: &["-E", "-o", "-O", "-I", "-B", "-T", "-t", "-m"],
        ..TOOL
    },
    Program {
        names: &["ssh", "autossh", "mosh", "slogin"],
        flags: &[
            "-4", "-6", "-A", "-a", "-C", "-f", "-G", "-g", "-K", "-k", "-N", "-n", "-q", "-s", "-T", "-t",
            "-V", "-v", "-X", "-x", "-Y", "-y",
        ],
        code: &["-o", "-F", "-I", "-S", "-J", "--ssh", "--server"],
        data: &[
            "-p", "-i", "-l", "-b", "-L", "-R", "-D", "-E", "-W", "-Q", "-c", "-m", "-B", "-e", "-O", "-w",
            "-M",
        ],
        operands: &[Data, ShellCommand],
        input: Code,
        ..WRAPPER
    },
    Program { names: &["sshpass"], data: &["-p", "-f", "-d", "-P"], ..WRAPPER },
    Program {
        names: &["npx", "bunx", "pnpx", "uvx", "pipx"],
        flags: &["-y", "--yes", "-q", "--quiet", "--no", "--no-install", "--ignore-existing"],
        code: &["-c", "--call", "-p", "--package", "--from", "--with"],
        ..WRAPPER
    },
    Program {
        names: &[
            "uv",
            "poetry",
            "pipenv",
            "hatch",
            "rye",
            "conda",
            "mamba",
            "bundle",
            "direnv",
            "mise",
            "asdf",
            "nix-shell",
        ],
        code: &["--run", "--command", "--with"],
        data: &["-n", "--directory", "--project"],
        subcommands: &[("run", &EXEC), ("exec", &EXEC)],
        ..TOOL
    },
    Program {
        names: &["docker", "podman", "nerdctl", "docker-compose", "podman-compose"],
        data: &[
            "-H",
            "--host",
            "--context",
            "-c",
            "-f",
            "--file",
            "-p",
            "--project-name",
            "-l",
            "--log-level",
        ],
        subcommands: CONTAINERS,
        ..TOOL
    },
    Program {
        names: &["kubectl", "oc", "crictl", "lxc", "incus"],
        data: &["-n", "--namespace", "--context", "--cluster", "-s", "--server", "--user"],
        code: &["--kubeconfig"],
        subcommands: &[("exec", &IN_CONTAINER), ("run", &IN_CONTAINER), ("debug", &IN_CONTAINER)],
        ..TOOL
    },
    Program {
        names: &["machinectl", "toolbox", "distrobox", "flatpak", "vagrant", "multipass", "limactl"],
        subcommands: &[
            ("shell", &IN_CONTAINER),
            ("run", &IN_CONTAINER),
            ("exec", &IN_CONTAINER),
            ("ssh", &IN_CONTAINER),
            ("enter", &IN_CONTAINER),
        ],
        ..TOOL
    },
];

static EXEC: Program =
    Program { names: &["run"], data: &["--directory", "--project", "-n"], code: &["--with"], ..WRAPPER };

static IN_CONTAINER: Program = Program {
    names: &["exec"],
    flags: &[
        "-i",
        "-t",
        "-d",
        "-q",
        "-T",
        "--rm",
        "--interactive",
        "--tty",
        "--detach",
        "--privileged",
        "--stdin",
        "--quiet",
        "--init",
        "--no-deps",
        "--read-only",
    ],
    data: &[
        "-u",
        "--user",
        "-w",
        "--workdir",
        "-e",
        "--env",
        "--env-file",
        "-c",
        "--container",
        "-n",
        "--namespace",
        "--name",
        "-v",
        "--volume",
        "-p",
        "--publish",
        "--network",
        "--mount",
        "-m",
        "--memory",
        "--image",
        "--index",
        "--detach-keys",
        "-l",
        "--label",
        "--platform",
        "-h",
        "--hostname",
        "--cpus",
        "--restart",
    ],
    code: &["--entrypoint", "--overrides"],
    operands: &[Data, Command],
    ..WRAPPER
};

static COMPOSE: Program = Program {
    names: &["compose"],
    data: &["-f", "--file", "-p", "--project-name", "--profile", "--project-directory", "--env-file"],
    subcommands: &[("exec", &IN_CONTAINER), ("run", &IN_CONTAINER)],
    ..TOOL
};

static CONTAINERS: &[(&str, &Program)] = &[
    ("exec", &IN_CONTAINER),
    ("run", &IN_CONTAINER),
    ("create", &IN_CONTAINER),
    ("compose", &COMPOSE),
    ("container", &COMPOSE),
    ("build", &BUILD),
];

static BUILD: Program = Program {
    names: &["build"],
    code: &["-f", "--file"],
    operands: &[Data],
    otherwise: Data,
    input: Code,
    ..TOOL
};
