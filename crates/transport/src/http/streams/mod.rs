//! Streams of server-sent events, and their replay buffers.

pub(in crate::http) mod events;
pub(in crate::http) mod open_streams;
pub(in crate::http) mod replay_buffer;
pub(in crate::http) mod reply;
pub(in crate::http) mod shared;
pub(in crate::http) mod waiting;
