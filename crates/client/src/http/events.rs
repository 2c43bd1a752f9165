//! Server-sent events: the data of each event, as the bytes arrive.

/// The longest event, in bytes.
const LONGEST: usize = 256 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that is being read.
    line: Vec<u8>,
    /// The data of the event that is being read.
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

/// An event that is longer than a message may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// Takes in bytes, and passes on the data of each event that is complete with them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut complete = Vec::new();
        for &byte in bytes {
            let is_second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                _ if is_second_half => {}
                b'\n' | b'\r' => complete.extend(self.end_line()),
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.len() > LONGEST {
                return Err(TooLong);
            }
        }
        Ok(complete)
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let had_data = std::mem::take(&mut self.has_data);
            let data = std::mem::take(&mut self.data);
            return (had_data && !data.is_empty()).then_some(data);
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            self.has_data = true;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_their_bytes_are_cut() {
        let text = b": hello\n\nid: 1\ndata:\n\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: b\r\rdata: half";
        let mut whole = Events::default();
        let expected = vec![b"{\"a\":\n1}".to_vec(), b"b".to_vec()];
        assert_eq!(whole.take(text), Ok(expected.clone()));
        let mut each = Events::default();
        let mut found = Vec::new();
        for byte in text {
            found.extend(each.take(&[*byte]).unwrap());
        }
        assert_eq!(found, expected);
    }
}
