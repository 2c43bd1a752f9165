//! Advice: why this machine lacks a mechanism, and how to get it. The causes are read from files of the kernel; a file that
//! cannot be read is no cause.

#![expect(clippy::disallowed_methods, reason = "files of the kernel")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A cause, and its fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    pub cause: String,
    pub fix: String,
    /// The command that makes the fix, where there is one.
    pub command: Option<String>,
}

impl Advice {
    fn new(cause: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { cause: cause.into(), fix: fix.into(), command: None }
    }

    fn command(self, command: &str) -> Self {
        Self { command: Some(command.to_owned()), ..self }
    }
}

/// The files in which a kernel describes itself.
#[derive(Debug, Clone)]
pub struct KernelFiles {
    /// The folder that stands for `/`.
    root: PathBuf,
}

/// The first version with Landlock.
const WITH_LANDLOCK: (u32, u32) = (5, 13);

impl KernelFiles {
    pub fn of_this_machine() -> Self {
        Self::below(Path::new("/"))
    }

    pub fn below(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Why there is no Landlock, if asking for its version failed with this error.
    pub fn without_landlock(&self, error: &io::Error) -> Advice {
        let release = self.text("proc/sys/kernel/osrelease").unwrap_or_default();
        let is_older = version(&release).is_some_and(|version| version < WITH_LANDLOCK);
        match error.raw_os_error() {
            Some(libc::ENOSYS) if is_older => Advice::new(
                format!("Linux {release} is older than 5.13, the first version with Landlock"),
                "use Linux 5.13 or later; 6.12 also restricts signals and abstract sockets",
            ),
            Some(libc::EOPNOTSUPP) => {
                let list = self.text("sys/kernel/security/lsm").filter(|list| !list.is_empty());
                let list = list.unwrap_or_else(|| "(the present list)".into());
                Advice::new(
                    format!("Landlock is switched off: the security modules of this kernel are {list}"),
                    format!("start the kernel with the parameter `lsm=landlock,{list}`"),
                )
            }
            Some(libc::EPERM | libc::ENOSYS) if self.is_filtered() => Advice::new(
                "the seccomp profile of this container forbids Landlock",
                "allow landlock_create_ruleset, landlock_add_rule and landlock_restrict_self in the profile, as the \
                 current default profile of Docker does",
            ),
            Some(libc::ENOSYS) => Advice::new(
                format!("Linux {release} was built without Landlock"),
                "use a kernel that was built with CONFIG_SECURITY_LANDLOCK=y",
            ),
            _ => Advice::new(
                format!("the kernel refuses Landlock: {error}"),
                "allow the system calls landlock_* where the server runs",
            ),
        }
    }

    /// Why no user and network namespaces can be made, if making them failed with this message.
    pub fn without_namespaces(&self, error: &str) -> Advice {
        let is = |name: &str, value: &str| self.text(name).is_some_and(|text| text == value);
        if is("proc/sys/user/max_user_namespaces", "0") {
            return Advice::new(
                "user.max_user_namespaces is 0: no user namespace may be made",
                "raise the limit",
            )
            .command("sudo sysctl user.max_user_namespaces=15000");
        }
        if is("proc/sys/kernel/unprivileged_userns_clone", "0") {
            return Advice::new(
                "kernel.unprivileged_userns_clone is 0: only root may make user namespaces",
                "allow them to all users",
            )
            .command("sudo sysctl kernel.unprivileged_userns_clone=1");
        }
        if is("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
            return Advice::new(
                "kernel.apparmor_restrict_unprivileged_userns is 1, as on Ubuntu: only programs with an AppArmor \
                 profile may use user namespaces",
                "give this program a profile that contains `userns,` in /etc/apparmor.d, or allow them to all programs",
            )
            .command("sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0");
        }
        if self.is_filtered() {
            return Advice::new(
                format!("the seccomp profile of this container forbids namespaces ({error})"),
                "run the container with a profile that allows `unshare` and `setns` \
                 (docker run --security-opt seccomp=PROFILE.json)",
            );
        }
        Advice::new(
            format!("the system refuses namespaces: {error}"),
            "allow user namespaces (`unshare --user --net true`) to the user that runs the server",
        )
    }

    /// Whether system calls of this process are filtered, as in most containers.
    fn is_filtered(&self) -> bool {
        let status = self.text("proc/self/status").unwrap_or_default();
        status.lines().filter_map(|line| line.strip_prefix("Seccomp:")).any(|mode| mode.trim() == "2")
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok().map(|text| text.trim().to_owned())
    }
}

/// The first two numbers of a release such as `6.8.0-45-generic`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose kernel has these files.
    fn kernel(files: &[(&str, &str)]) -> (tempfile::TempDir, KernelFiles) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let files = KernelFiles::below(root.path());
        (root, files)
    }

    const FILTERED: (&str, &str) = ("proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
    const FREE: (&str, &str) = ("proc/self/status", "Name:\tx\nSeccomp:\t0\n");

    #[test]
    fn each_cause_of_missing_namespaces_has_its_command() {
        for (name, value, command) in [
            ("proc/sys/user/max_user_namespaces", "0\n", "sudo sysctl user.max_user_namespaces=15000"),
            (
                "proc/sys/kernel/unprivileged_userns_clone",
                "0\n",
                "sudo sysctl kernel.unprivileged_userns_clone=1",
            ),
            (
                "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                "1\n",
                "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
            ),
        ] {
            let (_root, files) = kernel(&[(name, value), FREE]);
            let advice = files.without_namespaces("Operation not permitted");
            assert_eq!(advice.command.as_deref(), Some(command), "{advice:?}");
            let setting = name.trim_start_matches("proc/sys/").replace('/', ".");
            assert!(advice.cause.contains(&setting), "{advice:?}");
        }
    }

    #[test]
    fn a_container_is_named_before_a_guess_and_a_setting_before_a_container() {
        let (_root, files) = kernel(&[FILTERED, ("proc/sys/user/max_user_namespaces", "63000")]);
        assert!(files.without_namespaces("EPERM").cause.contains("this container"));
        let (_root, files) = kernel(&[FILTERED, ("proc/sys/user/max_user_namespaces", "0")]);
        assert!(files.without_namespaces("EPERM").cause.contains("max_user_namespaces"));
    }

    #[test]
    fn files_that_cannot_be_read_are_no_cause() {
        // Folders in their places, no text, and no files at all.
        let odd = [("proc/sys/user/max_user_namespaces/x", ""), ("proc/self/status", "\0\0Seccomp: two")];
        for files in [&odd[..], &[]] {
            let (_root, files) = kernel(files);
            let advice = files.without_namespaces("it said no");
            assert!(advice.cause.ends_with("it said no") && advice.command.is_none(), "{advice:?}");
            let advice = files.without_landlock(&io::Error::from_raw_os_error(libc::EINVAL));
            assert!(advice.cause.starts_with("the kernel refuses Landlock"), "{advice:?}");
        }
    }

    #[test]
    fn a_missing_landlock_is_explained_by_the_error_and_the_version() {
        let release = |release| ("proc/sys/kernel/osrelease", release);
        let lsm = ("sys/kernel/security/lsm", "capability,yama,apparmor\n");
        for (error, files, expected) in [
            (libc::ENOSYS, vec![release("5.10.0-28-amd64\n"), FILTERED], "older than 5.13"),
            (libc::ENOSYS, vec![release("6.1.0"), FREE], "built without Landlock"),
            (libc::ENOSYS, vec![release("6.1.0"), FILTERED], "this container"),
            (libc::EPERM, vec![release("6.1.0"), FILTERED], "this container"),
            (libc::EOPNOTSUPP, vec![release("6.1.0"), lsm], "capability,yama,apparmor"),
            (libc::ENOSYS, vec![release("nonsense")], "built without Landlock"),
        ] {
            let (_root, files) = kernel(&files);
            let advice = files.without_landlock(&io::Error::from_raw_os_error(error));
            assert!(advice.cause.contains(expected), "{expected}: {advice:?}");
        }
        let (_root, files) = kernel(&[lsm]);
        let advice = files.without_landlock(&io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        assert!(advice.fix.contains("`lsm=landlock,capability,yama,apparmor`"), "{advice:?}");
    }
}
