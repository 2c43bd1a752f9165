//! Sandbox: what a process may do, as the kernel enforces it.
//!
//! An author's [`Declaration`] becomes a [`Policy`] when its words are resolved to paths. A [`Plan`] chooses the mechanisms
//! of this [`Machine`] that enforce the policy, and says what they leave open. A [`Confinement`] is the list of system calls
//! by which a child restricts itself before it runs its program.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod attempts;
mod confinement;
mod declaration;
mod filter_choices;
mod host;
mod hosts;
mod in_force;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod machine_elsewhere;
mod offer;
mod place;
mod plan;
mod policy;
pub mod seatbelt;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub mod seccomp;
mod size;
mod traced_call;
mod usage;

pub use attempts::{Attempt, Attempts, Deed, Target};
pub use confinement::{Confinement, GroupLimits, Keep, ProcessLimit, Step};
pub use declaration::{Declaration, DeclarationError, Limits, Mode, Network};
pub use filter_choices::{FilterChoices, Sockets};
pub use host::{BadHost, BadPort, Host, split_port};
pub use hosts::{EntryError, HostError, HostList};
pub use in_force::{Aspect, InForce, Level};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use linux::advice::{Advice, KernelFiles};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use linux::landlock::{Access, LandlockRights, Ruleset, claimed_version};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use linux::namespaces::{MOST_LISTENERS, Namespaces, run_maker_if_asked};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use linux::probe::{PROBE_ARGUMENT, PROBED_LIMITS, Trial, run_probe_if_asked};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use linux::watch::{HiddenHome, Watch};
pub use offer::Offer;
pub use place::{Place, PlaceError};
pub use plan::{GroupPowers, LandlockPowers, Machine, NamespacePowers, Plan, Reach, Unenforceable};
pub use policy::Policy;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use seccomp::Filter;
pub use traced_call::TracedCall;
pub use usage::{AllowedPaths, Excess, RecordedUsage, Usage};
