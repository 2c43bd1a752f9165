//! Method table: the name of each method, when it may be called, and its handler. A new method is a line here and a handler in
//! the file of its family.

use super::{completion, discover, lifecycle, logging, ping, prompts, resources, tasks, tools};
use crate::callers::Gate;
use crate::handling::{Aside, Immediate, Work};
use crate::replies::Answer;
use mcp_bash_settings::Settings;
use mcp_bash_wire::{Era, Raw, RpcError, code};
use std::pin::Pin;
use std::sync::Arc;

/// A method of the protocol.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// When a session may call it; `None` if the handshake era lacks it.
    pub(crate) handshake: Option<Gate>,
    /// Whether the stateless era has it.
    stateless: bool,
    /// Whether it is available in minimal mode.
    minimal: bool,
    pub(crate) serve: Serve,
}

/// How a method is served.
#[derive(Clone, Copy)]
pub(crate) enum Serve {
    /// Answered before the next message is read.
    Now(NowHandler),
    /// Like `Now`, but may wait for files that are being loaded.
    List(NowHandler),
    /// Its handler may take time, and needs a place.
    Later(LaterHandler),
    /// Like `Later`, and it may ask the client: in the stateless era, a request with a state resumes it.
    Asking(LaterHandler),
    /// Like `Later`. The specification lets it ask, but this server never does: a request with a state is rejected.
    NeverAsking(LaterHandler),
    /// Waits for files or a task, but needs no place.
    Aside(AsideHandler),
    /// Stays open for notifications, and is answered when it ends.
    Listen,
}

pub(crate) type NowHandler = fn(&Immediate<'_>) -> Result<Answer, RpcError>;

pub(crate) type LaterHandler = for<'a> fn(&'a Arc<Work>, Option<Raw<'a>>) -> PendingAnswer<'a>;

pub(crate) type AsideHandler = fn(Aside) -> PendingAnswer<'static>;

type PendingAnswer<'a> = Pin<Box<dyn Future<Output = Result<Answer, RpcError>> + Send + 'a>>;

const fn method(
    name: &'static str,
    handshake: Option<Gate>,
    stateless: bool,
    minimal: bool,
    serve: Serve,
) -> Method {
    Method { name, handshake, stateless, minimal, serve }
}

use Gate::{Always, First, Greeted, Ready};
use Serve::{Aside as Beside, Asking, Later, List, Listen, NeverAsking, Now};

#[rustfmt::skip]
const TABLE: &[Method] = &[
    //     name                        handshake      stateless minimal handler
    method("ping",                     Some(Always),  false,    true,   Now(ping::ping)),
    method("tools/call",               Some(Ready),   true,     false,  Asking(|work, params| Box::pin(tools::call(work, params)))),
    method("tools/list",               Some(Ready),   true,     false,  List(tools::list)),
    method("resources/list",           Some(Ready),   true,     false,  List(resources::list)),
    method("resources/templates/list", Some(Ready),   true,     false,  List(resources::list_templates)),
    method("resources/read",           Some(Ready),   true,     false,  NeverAsking(|work, params| Box::pin(resources::read(work, params)))),
    method("resources/subscribe",      Some(Ready),   false,    false,  Later(|work, params| Box::pin(resources::subscribe(work, params)))),
    method("resources/unsubscribe",    Some(Ready),   false,    false,  Now(resources::unsubscribe)),
    method("subscriptions/listen",     None,          true,     false,  Listen),
    method("prompts/get",              Some(Ready),   true,     false,  Asking(|work, params| Box::pin(prompts::get(work, params)))),
    method("prompts/list",             Some(Ready),   true,     false,  List(prompts::list)),
    method("completion/complete",      Some(Ready),   true,     false,  Later(|work, params| Box::pin(completion::complete(work, params)))),
    method("tasks/get",                Some(Ready),   true,     false,  Beside(|request| Box::pin(tasks::get(request)))),
    method("tasks/update",             None,          true,     false,  Beside(|request| Box::pin(tasks::update(request)))),
    method("tasks/cancel",             Some(Ready),   true,     false,  Beside(|request| Box::pin(tasks::cancel(request)))),
    method("tasks/result",             Some(Ready),   false,    false,  Beside(|request| Box::pin(tasks::result(request)))),
    method("tasks/list",               Some(Ready),   false,    false,  Beside(|request| Box::pin(tasks::list(request)))),
    method("initialize",               Some(First),   false,    true,   Now(lifecycle::initialize)),
    method("logging/setLevel",         Some(Greeted), false,    true,   Now(logging::set_level)),
    method("shutdown",                 Some(Always),  false,    true,   Now(lifecycle::shutdown)),
    method("exit",                     Some(Always),  false,    true,   Now(lifecycle::exit)),
    method("server/discover",          None,          true,     true,   Now(discover::discover)),
];

impl Method {
    /// The method of this name, in any era.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        TABLE.iter().find(|method| method.name == name)
    }

    /// Whether this era has it.
    pub(crate) fn is_known(&self, era: Era) -> bool {
        match era {
            Era::Handshake => self.handshake.is_some(),
            Era::Stateless => self.stateless,
        }
    }

    /// Rejects a method that minimal mode lacks, with the message of the shell framework.
    pub(crate) fn check_minimal(&self) -> Result<(), RpcError> {
        if self.minimal {
            return Ok(());
        }
        let message = match self.name.split('/').next() {
            Some("tools") => "Tools capability unavailable in minimal mode",
            Some("prompts") => "Prompts capability unavailable in minimal mode",
            Some("completion") => "Completion capability unavailable in minimal mode",
            Some("resources") => "Resources capability unavailable in minimal mode",
            _ => "Unavailable in minimal mode",
        };
        let reason = "MCPBASH_FORCE_MINIMAL=true leaves only lifecycle, ping and logging; unset it";
        Err(RpcError::with_reason(code::METHOD_NOT_FOUND, message, reason))
    }

    /// Rejects a list that is longer than a registry may be. A partial list would be useless.
    pub(crate) fn guard_size(&self, result: &str, settings: &Settings) -> Result<(), RpcError> {
        let limit = settings.registry_limit;
        if !self.name.ends_with("/list") || result.len() <= limit {
            return Ok(());
        }
        Err(RpcError::internal(format!(
            "The answer to {} is longer than {limit} bytes; MCPBASH_REGISTRY_MAX_BYTES sets the limit, and \
             `limit` in the params asks for fewer entries",
            self.name
        )))
    }
}
