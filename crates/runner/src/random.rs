//! Random bytes from the operating system.

use std::fmt::Write as _;
use std::io;

/// `BYTES` random bytes, as hexadecimal digits.
pub(crate) fn hex<const BYTES: usize>() -> io::Result<String> {
    let mut text = String::with_capacity(2 * BYTES);
    for byte in bytes::<BYTES>()? {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) fn bytes<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
#[expect(clippy::disallowed_methods, reason = "a device of the system")]
pub(crate) fn bytes<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    use std::io::Read;
    let mut bytes = [0; BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
