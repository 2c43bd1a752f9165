//! Streamable HTTP.
#![allow(dead_code, unused_imports)]

mod door;
mod exposure;
mod guarded_file;
mod identity;
mod listen;
mod options;
mod rate;
mod tls;

pub use door::DoorError;
pub use exposure::Exposed;
pub use guarded_file::GuardedFileError;
pub use identity::{NewTokenError, TokenFileError, TokenLine, TokenText, TokensError};
pub use listen::{Address, AddressError, ListenError};
pub use options::{Limits, Options, TlsFiles};
pub use rate::{Rate, RateError};
pub use tls::TlsError;
