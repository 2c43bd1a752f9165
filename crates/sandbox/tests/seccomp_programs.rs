//! Real programs under the filter. A program that this machine does not have, or that does not work for the user
//! without the filter either, is left out.

#![cfg(all(
    target_os = "linux",
    not(mcp_bash_portable),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![expect(unsafe_code, reason = "a child goes under the filter before it runs its program")]

#[path = "stage/mod.rs"]
mod stage;

use mcp_bash_sandbox::{Filter, FilterChoices, Sockets};
use stage::{NOBODY, filter, users};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// From the widest to the narrowest.
const CHOICES: [FilterChoices; 3] = [
    FilterChoices { sockets: Sockets::All, unix_sockets: true },
    FilterChoices { sockets: Sockets::TcpOnly, unix_sockets: false },
    FilterChoices { sockets: Sockets::None, unix_sockets: false },
];

/// The standard output of a program, if it succeeds.
fn output(program: &[&str], user: Option<u32>, filter: Option<Filter>) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).current_dir(&folder).env("HOME", folder.path()).env("TMPDIR", folder.path());
    // Version managers put their own programs first, in folders that only root can read.
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    if let Some(user) = user {
        command.uid(user).gid(NOBODY);
        std::os::unix::fs::chown(folder.path(), Some(user), Some(NOBODY)).unwrap();
    }
    if let Some(filter) = filter {
        // SAFETY: The function makes two system calls.
        unsafe {
            command.pre_exec(move || {
                rustix::thread::set_no_new_privs(true)?;
                Ok(filter.apply()?)
            })
        };
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{}: {}", output.status, text(&output.stderr)))
    }
}

/// Runs a program under every filter, and returns for how many users it works without one.
fn works(program: &[&str], expected: &str) -> usize {
    let mut number = 0;
    for user in users() {
        match output(program, user, None) {
            Ok(found) if found == expected => {}
            other => {
                eprintln!("{} is left out as {user:?}: {other:?}", program[0]);
                continue;
            }
        }
        number += 1;
        for choices in CHOICES {
            let found = output(program, user, Some(filter(choices)));
            assert_eq!(found.as_deref(), Ok(expected), "{program:?} as {user:?} with {choices:?}");
        }
    }
    number
}

#[test]
fn bash_runs() {
    let script = "set -e; mkfifo pipe; (echo through > pipe &) ; read -r line < pipe
        ulimit -n 100; ulimit -t 60; trap 'echo trapped' USR1; kill -USR1 $$
        echo \"$line $(echo b a | tr ' ' '\\n' | sort | paste -sd,) $(ulimit -n)\"";
    assert_eq!(works(&["bash", "-c", script], "trapped\nthrough a,b 100"), users().len());
}

#[test]
fn python_runs_threads_and_processes() {
    let script = "
import multiprocessing, ssl, subprocess, tempfile, threading, socket, asyncio, sqlite3, ctypes
found = []
threads = [threading.Thread(target=found.append, args=(n,)) for n in range(8)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
def work(queue): queue.put(sum(range(10)))
for method in ('fork', 'spawn'):
    if __name__ == '__main__':
        context = multiprocessing.get_context(method)
        queue = context.SimpleQueue()
        child = context.Process(target=work if method == 'fork' else queue.put, args=(queue,) if method == 'fork' else (45,))
        child.start(); assert queue.get() == 45; child.join(); assert child.exitcode == 0
left, right = socket.socketpair(); left.send(b'x'); assert right.recv(1) == b'x'
async def main():
    child = await asyncio.create_subprocess_exec('echo', 'hi', stdout=subprocess.PIPE)
    return (await child.communicate())[0]
assert asyncio.run(main()) == b'hi\\n'
ssl.create_default_context()
with tempfile.NamedTemporaryFile() as file: file.write(b'x')
print(len(found), subprocess.check_output(['echo', 'child'], text=True).strip())
";
    works(&["python3", "-c", script], "8 child");
}

#[test]
fn node_runs_workers() {
    let script = "
const { Worker } = require('node:worker_threads');
const { execFileSync } = require('node:child_process');
require('node:fs').writeFileSync('file', 'x');
require('node:crypto').pbkdf2('a', 'b', 1, 8, 'sha256', (error) => {
  if (error) throw error;
  const worker = new Worker('require(\"node:worker_threads\").parentPort.postMessage(6 * 7)', { eval: true });
  worker.on('message', (answer) => {
    require('node:os').networkInterfaces();
    console.log(answer, execFileSync('echo', ['child']).toString().trim());
  });
});
";
    works(&["node", "-e", script], "42 child");
}

#[test]
fn perl_runs() {
    let script = "pipe(my $from, my $to); if (!fork) { print $to 'child'; exit } close $to; waitpid(-1, 0);
        print scalar <$from>, ' ', `echo shell`";
    works(&["perl", "-e", script], "child shell");
}

#[test]
fn git_commits() {
    let script = "set -e; git init -q .; git config user.name n; git config user.email e@example.org
        echo text > file; git add file; git commit -qm title; git gc -q; git log --format=%s";
    works(&["bash", "-c", script], "title");
}

/// Compilers start processes by `vfork` and `posix_spawn`.
#[test]
fn a_compiler_runs() {
    let script = "echo 'int main(void) { return 7; }' > a.c && cc a.c -o a; ./a; echo $?";
    works(&["bash", "-c", script], "7");
}

/// The filter holds for everything that a program starts.
#[test]
fn programs_are_stopped() {
    let attempts = [
        ("unshare", "unshare --user --map-root-user true"),
        ("mount", "mount -t tmpfs none ."),
        ("python3", "python3 -c 'import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)'"),
        ("python3", "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)'"),
        ("python3", "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'"),
        ("mknod", "mknod device c 1 3"),
        ("chroot", "chroot / true"),
        ("strace", "strace -o /dev/null true"),
        ("dmesg", "dmesg --syslog"),
    ];
    for user in users() {
        for (program, attempt) in attempts {
            if output(&["bash", "-c", &format!("command -v {program}")], user, None).is_err() {
                eprintln!("{program} is left out");
                continue;
            }
            let nested = format!("{attempt} > /dev/null && echo done; true");
            let found = output(&["bash", "-c", &nested], user, Some(filter(CHOICES[2])));
            assert_eq!(found.as_deref(), Ok(""), "{attempt} as {user:?}");
        }
    }
}

/// The errors of refused sockets make programs use what is left.
#[test]
fn python_reports_what_is_missing() {
    let script = "
import socket, errno
for family, kind, protocol in ((2, 1, 262), (2, 2, 0), (40, 1, 0)):
    try: socket.socket(family, kind, protocol)
    except OSError as error: print(errno.errorcode[error.errno])
";
    let found = output(&["python3", "-c", script], None, Some(filter(CHOICES[1])));
    if output(&["python3", "--version"], None, None).is_ok() {
        assert_eq!(found.as_deref(), Ok("EPROTONOSUPPORT\nEPROTONOSUPPORT\nEAFNOSUPPORT"));
    }
}
