//! Ways into another view of the machine: namespaces, mounts, roots, handles of files.

use super::attack::{Attack, Attempt, Failure, is_past_the_permission_check};
use super::system_call::{address, call, descriptor, exit_now, number_of, text, wait_for};
use std::fs::File;
use std::io::Read;

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "unshare", usage: "NAMESPACE...", run: unshare },
    Attack { name: "clone", usage: "NAMESPACE...", run: clone },
    Attack { name: "clone3", usage: "NAMESPACE...", run: clone3 },
    Attack { name: "enter", usage: "PID NAMESPACE...", run: enter },
    Attack { name: "mount", usage: "FOLDER", run: mount },
    Attack { name: "open-tree", usage: "FOLDER", run: open_tree },
    Attack { name: "new-mount", usage: "", run: new_mount },
    Attack { name: "pivot-root", usage: "", run: pivot_root },
    Attack { name: "chroot", usage: "FOLDER", run: chroot },
    Attack { name: "open-by-handle", usage: "FILE", run: open_by_handle },
];

fn flags(names: &[&str]) -> Result<usize, Failure> {
    names.iter().try_fold(0, |flags, name| {
        let flag = match *name {
            "user" => libc::CLONE_NEWUSER,
            "net" => libc::CLONE_NEWNET,
            "mount" => libc::CLONE_NEWNS,
            "pid" => libc::CLONE_NEWPID,
            name => return Err(Failure::without_errno(format!("no namespace: {name}"))),
        };
        Ok(flags | flag as usize)
    })
}

fn unshare(parameters: &[&str]) -> Attempt {
    call(libc::SYS_unshare, &[flags(parameters)?])?;
    Ok("has namespaces of its own".to_owned())
}

fn clone(parameters: &[&str]) -> Attempt {
    let flags = flags(parameters)? | libc::SIGCHLD as usize;
    waited_for(call(libc::SYS_clone, &[flags, 0, 0, 0, 0])?)
}

fn clone3(parameters: &[&str]) -> Attempt {
    // Flags, pidfd, child's and parent's thread id, exit signal, stack, its size, thread-local storage.
    let arguments = [flags(parameters)?, 0, 0, 0, libc::SIGCHLD as usize, 0, 0, 0];
    waited_for(call(libc::SYS_clone3, &[address(&arguments), size_of_val(&arguments)])?)
}

/// The child exits at once; the parent reports.
fn waited_for(child: usize) -> Attempt {
    if child == 0 {
        exit_now(0);
    }
    wait_for(child as i32)?;
    Ok("a child had namespaces of its own".to_owned())
}

/// Enters namespaces of another process.
fn enter(parameters: &[&str]) -> Attempt {
    let pid = parameters[0].parse().map_err(|_| Failure::without_errno("not a process"))?;
    let handle = descriptor(libc::SYS_pidfd_open, &[pid, 0])?;
    call(libc::SYS_setns, &[number_of(&handle), flags(&parameters[1..])?])?;
    Ok("entered".to_owned())
}

fn mount(parameters: &[&str]) -> Attempt {
    let (kind, folder) = (text("tmpfs"), text(parameters[0]));
    let (kind, folder) = (address(kind.as_bytes_with_nul()), address(folder.as_bytes_with_nul()));
    call(libc::SYS_mount, &[kind, folder, kind, 0, 0])?;
    call(libc::SYS_umount2, &[folder, libc::MNT_DETACH as usize])?;
    Ok("mounted".to_owned())
}

/// A copy of a mount, which is gone with its descriptor.
fn open_tree(parameters: &[&str]) -> Attempt {
    const CLONE: usize = 1;
    let folder = text(parameters[0]);
    let arguments = [libc::AT_FDCWD as usize, address(folder.as_bytes_with_nul()), CLONE];
    descriptor(libc::SYS_open_tree, &arguments)?;
    Ok("copied a mount".to_owned())
}

fn new_mount(_: &[&str]) -> Attempt {
    let kind = text("tmpfs");
    descriptor(libc::SYS_fsopen, &[address(kind.as_bytes_with_nul()), 0])?;
    Ok("opened a filesystem".to_owned())
}

fn pivot_root(_: &[&str]) -> Attempt {
    let nowhere = text("/nowhere/at/all");
    let nowhere = address(nowhere.as_bytes_with_nul());
    is_past_the_permission_check(call(libc::SYS_pivot_root, &[nowhere, nowhere]))
}

fn chroot(parameters: &[&str]) -> Attempt {
    let folder = text(parameters[0]);
    call(libc::SYS_chroot, &[address(folder.as_bytes_with_nul())])?;
    Ok("changed the root".to_owned())
}

/// Opens a file by its number in the filesystem instead of its path.
fn open_by_handle(parameters: &[&str]) -> Attempt {
    #[repr(C)]
    struct Handle {
        bytes: u32,
        kind: i32,
        contents: [u8; 128],
    }
    let (here, path) = (libc::AT_FDCWD as usize, text(parameters[0]));
    let (handle, mount) = (Handle { bytes: 128, kind: 0, contents: [0; 128] }, 0_i32);
    let name = address(path.as_bytes_with_nul());
    call(libc::SYS_name_to_handle_at, &[here, name, address(&handle), address(&mount), 0])?;
    let opened = descriptor(libc::SYS_open_by_handle_at, &[here, address(&handle), libc::O_RDONLY as usize])?;
    let mut found = Vec::new();
    File::from(opened).take(4096).read_to_end(&mut found)?;
    Ok(format!("read {} bytes", found.len()))
}
