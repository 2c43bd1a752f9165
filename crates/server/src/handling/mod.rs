//! What the handler of a method has in hand: a request that is answered at once, or work that takes time.

mod immediate;
pub(crate) mod work;

pub(crate) use immediate::Immediate;
pub(crate) use work::{ClientQuestion, Resumable, Work};
