//! Random names, which no other call has and no tool can guess in advance.

use std::fmt::Write as _;
use std::io::{self, Read};

/// 16 random bytes, as hexadecimal digits.
pub(crate) fn hex() -> io::Result<String> {
    let mut bytes = [0; 16];
    #[expect(clippy::disallowed_methods, reason = "a device of the system")]
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut text = String::with_capacity(32);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
