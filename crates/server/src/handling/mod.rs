//! Handling: what the handler of a method works with, a request that is answered at once or work that takes time.

mod asking;
mod immediate;
mod policing;
mod relaying;
mod work;

pub(crate) use asking::{ClientQuestion, Resumable};
pub(crate) use immediate::Immediate;
pub(crate) use policing::{Policed, PolicyRefusal};
pub(crate) use work::Work;
