//! Blocks of a stream of events: an event, or a comment.

use crate::{HttpConnection, invalid};
use std::io;

/// What was read of a stream of events and is no whole block yet.
#[derive(Debug, Default)]
pub struct EventBlocks(String);

impl EventBlocks {
    /// The lines of the next block. `None` when the stream has ended as it should.
    pub fn next(&mut self, http: &mut HttpConnection) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.0.find("\n\n") {
                let block: String = self.0.drain(..end + 2).collect();
                if block.contains('\r') {
                    return Err(invalid(&format!("another sign for the end of a line: {block:?}")));
                }
                return Ok(Some(block.trim_end_matches('\n').to_owned()));
            }
            match http.piece()? {
                Some(piece) => {
                    let text = String::from_utf8(piece).map_err(|_| invalid("events that are no text"))?;
                    self.0.push_str(&text);
                }
                None if self.0.is_empty() => return Ok(None),
                None => return Err(invalid(&format!("half an event: {:?}", self.0))),
            }
        }
    }
}
