//! The ways clients reach the server. A transport turns bytes into lines and messages into bytes; what they mean is
//! not its business. It also knows how a server comes to its end (`lifecycle`), and says so to whoever called it.

mod lifecycle;
pub mod stdio;

pub use lifecycle::Ending;
