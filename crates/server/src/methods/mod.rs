//! The methods of the protocol, one file for each family, and the table that says when and how each is served.

pub(crate) mod completion;
pub(crate) mod discover;
pub(crate) mod lifecycle;
pub(crate) mod logging;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod tools;

use crate::session::Gate;
use mcp_bash_wire::Era;

/// How a method is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Now(Immediate),
    Later(Lengthy),
    /// Answered only when it ends, and heard of until then.
    Listen,
}

/// Methods that are answered before the next message is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Immediate {
    Initialize,
    Ping,
    SetLogLevel,
    Shutdown,
    Exit,
    Discover,
    ListTools,
    ListResources,
    ListResourceTemplates,
    Unsubscribe,
    ListPrompts,
}

/// Methods whose work may take time, and runs beside other work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lengthy {
    CallTool,
    ReadResource,
    Subscribe,
    GetPrompt,
    Complete,
}

/// When and to whom a method is there.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    /// When a session may call it; `None` where the handshake era does not have it.
    pub(crate) handshake: Option<Gate>,
    /// Whether the stateless era has it.
    stateless: bool,
    /// Whether it is there in minimal mode.
    minimal: bool,
}

const fn rule(
    name: &'static str,
    method: Method,
    handshake: Option<Gate>,
    stateless: bool,
    minimal: bool,
) -> Rule {
    Rule { name, method, handshake, stateless, minimal }
}

#[rustfmt::skip]
const TABLE: &[Rule] = &[
    //   name                        method                                         handshake            stateless minimal
    rule("ping",                     Method::Now(Immediate::Ping),                  Some(Gate::Always),  false,    true),
    rule("tools/call",               Method::Later(Lengthy::CallTool),              Some(Gate::Ready),   true,     false),
    rule("tools/list",               Method::Now(Immediate::ListTools),             Some(Gate::Ready),   true,     false),
    rule("resources/list",           Method::Now(Immediate::ListResources),         Some(Gate::Ready),   true,     false),
    rule("resources/templates/list", Method::Now(Immediate::ListResourceTemplates), Some(Gate::Ready),   true,     false),
    rule("resources/read",           Method::Later(Lengthy::ReadResource),          Some(Gate::Ready),   true,     false),
    rule("resources/subscribe",      Method::Later(Lengthy::Subscribe),             Some(Gate::Ready),   false,    false),
    rule("resources/unsubscribe",    Method::Now(Immediate::Unsubscribe),           Some(Gate::Ready),   false,    false),
    rule("subscriptions/listen",     Method::Listen,                                None,                true,     false),
    rule("prompts/get",              Method::Later(Lengthy::GetPrompt),             Some(Gate::Ready),   true,     false),
    rule("prompts/list",             Method::Now(Immediate::ListPrompts),           Some(Gate::Ready),   true,     false),
    rule("completion/complete",      Method::Later(Lengthy::Complete),              Some(Gate::Ready),   true,     false),
    rule("initialize",               Method::Now(Immediate::Initialize),            Some(Gate::First),   false,    true),
    rule("logging/setLevel",         Method::Now(Immediate::SetLogLevel),           Some(Gate::Greeted), false,    true),
    rule("shutdown",                 Method::Now(Immediate::Shutdown),              Some(Gate::Always),  false,    true),
    rule("exit",                     Method::Now(Immediate::Exit),                  Some(Gate::Always),  false,    true),
    rule("server/discover",          Method::Now(Immediate::Discover),              None,                true,     true),
];

impl Rule {
    /// The method of that name, in whichever era.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        TABLE.iter().find(|rule| rule.name == name)
    }

    pub(crate) fn is_served(&self, era: Era, minimal: bool) -> bool {
        let known = match era {
            Era::Handshake => self.handshake.is_some(),
            Era::Stateless => self.stateless,
        };
        known && (self.minimal || !minimal)
    }
}
