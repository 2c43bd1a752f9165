//! Tasks: the threads on which they run, and the isolation of panics.

mod free_threads;
mod lasting;
pub(crate) mod panics;
mod workplaces;

pub use lasting::spawn_lasting;
pub use panics::on_purpose as panic_on_purpose;
pub(crate) use workplaces::{Weight, Workplaces};
