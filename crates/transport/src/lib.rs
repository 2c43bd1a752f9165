//! The ways clients reach the server. A transport turns bytes into lines and messages into bytes; what they mean is
//! not its business.

pub mod stdio;
