//! The watch: a child reports what it touches, without help of its own, and never waits in vain.

#![cfg(all(target_os = "linux", not(mcp_bash_portable)))]
#![expect(clippy::disallowed_methods, reason = "tests use files of their own")]
#![expect(unsafe_code, reason = "a step is applied in the child")]

use mcp_bash_sandbox::{Attempt, Confinement, Deed, Target, Watch};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

/// Runs a script of `sh` under a watch.
fn watched(script: &str, folder: &Path) -> (Output, Vec<Attempt>) {
    let watch = Arc::new(Watch::start(None).unwrap());
    let confinement = Confinement::default().watched_by(Arc::clone(&watch));
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).current_dir(folder);
    let apply = move || confinement.steps().iter().try_for_each(|step| step.apply().map_err(io::Error::from));
    // SAFETY: A step only makes system calls.
    unsafe { command.pre_exec(apply) };
    let output = command.output().unwrap();
    (output, watch.attempts().iter().cloned().collect())
}

fn on(deed: Deed, path: PathBuf) -> Attempt {
    Attempt { deed, target: Target::Path(path) }
}

#[test]
fn files_and_programs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("in"), "hello").unwrap();
    let (output, attempts) =
        watched("cat in > out; mv out moved; mkdir d; cd d; cat ../in; rm ../in; cat none", &root);
    assert_eq!(output.stdout, b"hello");
    for expected in [
        on(Deed::Read, root.join("in")),
        on(Deed::Create, root.join("out")),
        on(Deed::Remove, root.join("out")),
        on(Deed::Create, root.join("moved")),
        on(Deed::Create, root.join("d")),
        on(Deed::Remove, root.join("in")),
        on(Deed::Run, std::fs::canonicalize("/bin/cat").unwrap()),
    ] {
        assert!(attempts.contains(&expected), "{expected:?}: {attempts:#?}");
    }
    assert!(
        !attempts
            .iter()
            .any(|attempt| matches!(&attempt.target, Target::Path(path) if path.ends_with("none")))
    );
}

#[test]
fn many_children_without_descriptors_and_odd_paths_do_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let script = r#"
        exec 0<&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ( : > "file-$i"; : < "file-$i" ) & done
        wait
        : > "$(printf 'line\nbreak\377')"
        long=aaaaaaaaaaaaaaaa; long=$long$long$long$long; long=$long$long$long$long; long=$long/$long/$long/$long/$long/$long/$long
        cat "$long$long$long" 2> /dev/null
        echo done
    "#;
    let (output, attempts) = watched(script, &root);
    assert_eq!(output.stdout, b"done\n", "{output:?}");
    for number in 1..=20 {
        assert!(attempts.contains(&on(Deed::Create, root.join(format!("file-{number}")))), "{number}");
    }
    let odd = std::os::unix::ffi::OsStringExt::from_vec(b"line\nbreak\xff".to_vec());
    let odd: std::ffi::OsString = odd;
    assert!(attempts.contains(&on(Deed::Create, root.join(odd))));
}
