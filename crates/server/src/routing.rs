//! What came beside a message: the headers of its HTTP request, which in the stateless era repeat what the message says.

/// The headers that came with a message.
pub trait Headers {
    /// The header of that name, whose case does not matter. Without the white space around its value.
    fn get(&self, name: &str) -> Header<'_>;
}

/// What was said in one header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header<'a> {
    Absent,
    Once(&'a [u8]),
    /// More than once, so that it says nothing for certain.
    Repeated,
}
