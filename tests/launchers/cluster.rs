//! A Slurm cluster of the test: munge, a controller and one node, as the current user.

use crate::harness::{TIMEOUT, wait_at_most, wait_until};
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub(crate) struct Cluster {
    folder: TempDir,
    processes: Vec<Child>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { folder, processes: Vec::new() };
        for name in ["state", "spool"] {
            fs::create_dir(cluster.path(name)).unwrap();
        }
        let key: Vec<u8> = (0..128).map(|number: u8| number.wrapping_mul(37)).collect();
        fs::write(cluster.path("munge.key"), key).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(cluster.path("munge.key"), mode).unwrap();
        let words = [
            "key-file=munge.key",
            "socket=munge.sock",
            "pid-file=munge.pid",
            "log-file=munge.log",
            "seed-file=seed",
        ];
        let words = words.map(|word| {
            let (option, file) = word.split_once('=').unwrap();
            format!("--{option}={}", cluster.path(file).display())
        });
        cluster.run(
            "/usr/sbin/munged",
            ["--foreground".to_owned(), "--force".to_owned()].into_iter().chain(words),
        );
        wait_until("munge", || cluster.path("munge.sock").exists().then_some(()));
        fs::write(cluster.path("slurm.conf"), cluster.configuration()).unwrap();
        cluster.run("/usr/sbin/slurmctld", ["-D".to_owned()]);
        cluster.run("/usr/sbin/slurmd", ["-D".to_owned()]);
        wait_until("an idle node of Slurm", || {
            cluster.ask("sinfo", &["-h", "-o", "%T"]).contains("idle").then_some(())
        });
        cluster
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The value of `SLURM_CONF`.
    pub(crate) fn conf(&self) -> String {
        self.path("slurm.conf").display().to_string()
    }

    /// What a command of Slurm prints.
    pub(crate) fn ask(&self, program: &str, words: &[&str]) -> String {
        let output = Command::new(program).args(words).env("SLURM_CONF", self.conf()).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    }

    fn run(&mut self, program: &str, words: impl IntoIterator<Item = String>) {
        let log = fs::File::create(self.path(&format!("{}.out", program.replace('/', "_")))).unwrap();
        let started = Command::new(program)
            .args(words)
            .env("SLURM_CONF", self.conf())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        self.processes
            .push(started.unwrap_or_else(|error| panic!("{program}: {error}: install slurm-wlm and munge")));
    }

    fn configuration(&self) -> String {
        let output = |program: &str, word: &str| {
            let output = Command::new(program).arg(word).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let (node, user) = (output("uname", "-n"), output("id", "-un"));
        let port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = self.folder.path().display();
        format!(
            "ClusterName=test\nSlurmctldHost={node}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
             SlurmctldPort={}\nSlurmdPort={}\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge.sock\nCredType=cred/munge\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\nSlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdPidFile={folder}/slurmd.pid\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\nKillWait=3\nReturnToService=2\n\
             NodeName={node} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=FORCE:8 State=UP\n",
            port(),
            port()
        )
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A job that outlived the node would stay for ever.
        self.ask("scancel", &["--quiet", "--partition=all"]);
        wait_at_most(TIMEOUT, || self.ask("squeue", &["-h"]).trim().is_empty().then_some(()));
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
