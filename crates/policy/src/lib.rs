//! Policy: rules in CEL about tool calls, resource reads and prompts, read from a YAML file.
//!
//! The first rule that matches decides: allow, deny with a message, or ask for consent. Rules that redact a part of the
//! result apply wherever they are in the file. A rule that cannot be evaluated denies. All rules of one decision share one
//! cost budget. Nothing here reads a file, a clock or a setting.

mod decide;
mod error;
mod explain;
mod limits;
mod message;
mod place;
mod pointer;
mod read;
mod redact;
mod request;
mod rule;

pub use decide::{Decision, Policy, Refusal};
pub use error::{PolicyError, Problem};
pub use explain::{Explanation, RuleOutcome, RuleTrace};
pub use limits::LONGEST_FILE;
pub use mcp_bash_cel::Timestamp;
pub use redact::Redactions;
pub use request::{CallerFacts, Part, Request, Subject, tool_facts};
pub use rule::{Action, Rule};
