//! Roles: which callers may use what, how often and when.
//!
//! A file has roles, and says to whom each is given: by token, group, scope, certificate or name. A caller may do what one
//! of its roles allows; without a role it may do nothing. Nothing here knows how a caller was identified: a [`Subject`] says
//! what is known of it.

mod error;
mod file;
mod grant;
mod hours;
mod rate;
mod roles;

pub use error::RolesError;
pub use grant::{Grant, Hindrance, ToolFacts};
pub use hours::{Hours, HoursError};
pub use rate::{Rate, RateError};
pub use roles::{Given, Granted, Role, Roles, Subject};
