//! Mechanisms of a cell on systems other than Linux: a Seatbelt profile on macOS, and process limits.

use super::cell::CellFolders;
use super::command::CommandLine;
use mcp_bash_sandbox::seatbelt::{SANDBOX_EXEC, profile};
use mcp_bash_sandbox::{Confinement, Plan, Policy, ProcessLimit, Reach};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

pub(crate) struct Parts {
    proxy: Option<(TcpListener, u16)>,
}

impl Parts {
    pub(super) fn make(_policy: &Policy, plan: &Plan) -> io::Result<Self> {
        if plan.reach != Reach::ProxyByPort {
            return Ok(Self { proxy: None });
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        Ok(Self { proxy: Some((listener, port)) })
    }

    pub(super) fn proxy(&self) -> Option<&(TcpListener, u16)> {
        self.proxy.as_ref()
    }

    /// Ports of this machine are reached directly.
    #[expect(clippy::unused_self, reason = "other systems have bridges")]
    pub(super) fn bridges(&self) -> &[(TcpListener, u16)] {
        &[]
    }

    /// The limits of a process. Its command line is changed, so that it starts under a Seatbelt profile.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::needless_pass_by_value,
        reason = "on Linux it can fail, and takes the command line as it is"
    )]
    pub(super) fn confine(
        &mut self,
        policy: &Policy,
        plan: &Plan,
        folders: &CellFolders,
        call_folder: Option<&Path>,
        command: CommandLine<'_>,
    ) -> io::Result<Confinement> {
        if plan.restricts_files {
            let own = [folders.tmp.as_path(), &folders.home].into_iter().filter(|_| policy.has_tmp);
            let ports: Vec<u16> = self.proxy.iter().map(|(_, port)| *port).collect();
            let text = profile(policy, own.chain(call_folder), &ports);
            let program = std::mem::replace(command.program, SANDBOX_EXEC.into());
            let before = ["-p".into(), text.into(), program.into_os_string()];
            command.arguments.splice(0..0, before);
        }
        let limits = policy.limits;
        let limits = [
            limits.cpu_secs.map(ProcessLimit::CpuSeconds),
            limits.file_size.map(ProcessLimit::FileBytes),
            limits.open_files.map(ProcessLimit::OpenFiles),
            limits.memory.map(ProcessLimit::DataBytes),
        ];
        Ok(limits.into_iter().flatten().fold(Confinement::default(), Confinement::with_limit))
    }
}
