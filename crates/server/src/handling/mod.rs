//! Handling: the context of method handlers, for immediate requests, side requests and work that takes time.

mod aside;
mod asking;
mod confirming;
mod consent_form;
mod immediate;
mod policing;
mod relaying;
mod work;

pub(crate) use aside::Aside;
pub(crate) use asking::{ClientQuestion, Resumable};
pub(crate) use confirming::{Consent, NotGranted};
pub(crate) use consent_form::filled;
pub use consent_form::{asks_for_consent, consent_answer};
pub(crate) use immediate::Immediate;
pub(crate) use work::Work;
