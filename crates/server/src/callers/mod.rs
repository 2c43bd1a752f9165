//! Callers: the caller of a request, its rights, and the context of the request.

pub(crate) mod caller;
pub(crate) mod capabilities;
mod consents;
pub(crate) mod context;
mod guard;
mod handshake;
mod holdings;
pub(crate) mod identity;
mod limiter;
pub(crate) mod rights;
mod rights_source;
pub(crate) mod scopes;
mod swept;
pub(crate) mod trace_context;

pub use caller::{Caller, local_name};
pub(crate) use caller::{CallerKey, Callers, Counted, MOST_FOLLOWED};
pub(crate) use capabilities::ClientCapabilities;
pub(crate) use consents::{ConsentKey, Consents};
pub(crate) use context::RequestContext;
pub(crate) use guard::{Denied, Guard, SLOWED};
pub(crate) use handshake::{Gate, Handshake, Stage};
pub use holdings::{Holdings, Ticket};
pub use identity::{Identity, KnownBy, Principal};
pub(crate) use limiter::Limiter;
pub use rights::Rights;
pub(crate) use rights_source::RightsSource;
pub use swept::Swept;
