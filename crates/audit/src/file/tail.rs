//! The end of an audit file: its last whole record, and what a killed process left after it.

use crate::chain::{Hash, Head, Link};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How much is read at first. Few lines are longer.
const WINDOW: u64 = 16 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The last whole record.
    pub(crate) head: Option<Head>,
    /// What follows it.
    pub(crate) torn: Option<Torn>,
}

/// Text that is no record, at the end of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    pub(crate) bytes: u64,
    /// Of all of it but a last line break.
    pub(crate) hash: Hash,
    pub(crate) ends_its_line: bool,
}

impl Tail {
    /// Reads the end of a file of that size, from the last record on.
    pub(crate) fn read(file: &File, size: u64) -> io::Result<Self> {
        let mut window = WINDOW.min(size);
        loop {
            let mut end = vec![0; usize::try_from(window).map_err(io::Error::other)?];
            file.read_exact_at(&mut end, size - window)?;
            let is_all = window == size;
            if let Some(tail) = Self::find(&end, is_all) {
                return Ok(tail);
            }
            window = (window * 8).min(size);
        }
    }

    /// The tail, if the last record is in these bytes, or if these are all.
    fn find(end: &[u8], is_all: bool) -> Option<Self> {
        let mut after = end.len();
        loop {
            // The line that ends just before `after`, from the line break before it on.
            let line_end = end[..after].iter().rposition(|byte| *byte == b'\n');
            let Some(line_end) = line_end else {
                return is_all.then(|| Self { head: None, torn: Torn::of(end) });
            };
            let start = end[..line_end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if start == 0 && !is_all {
                return None;
            }
            let line = &end[start..line_end];
            if let Some(link) = Link::read(line) {
                let head = Head { seq: link.seq, hash: Hash::of(line) };
                return Some(Self { head: Some(head), torn: Torn::of(&end[line_end + 1..]) });
            }
            after = line_end;
        }
    }
}

impl Torn {
    fn of(text: &[u8]) -> Option<Self> {
        let ends_its_line = text.ends_with(b"\n");
        let torn = text.strip_suffix(b"\n").unwrap_or(text);
        (!text.is_empty()).then(|| Self { bytes: torn.len() as u64, hash: Hash::of(torn), ends_its_line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn tail(bytes: &[u8]) -> Tail {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Tail::read(&file, bytes.len() as u64).unwrap()
    }

    #[test]
    fn the_last_whole_record_is_found_whatever_follows() {
        let members = r#""time":"t","event.name":"e""#;
        let long = format!(r#"{members},"long":"{}""#, "x".repeat(3 * 16 * 1024));
        let (first, head) = Head::START.next(&long);
        let (second, after) = head.next(members);
        let file = first + &second;
        assert_eq!(tail(b""), Tail { head: None, torn: None });
        assert_eq!(tail(file.as_bytes()), Tail { head: Some(after), torn: None });
        let (third, _) = after.next(&long);
        for part in [1, 10, 20_000, third.len() - 1] {
            let torn = tail((file.clone() + &third[..part]).as_bytes());
            assert_eq!(torn.head, Some(after), "{part}");
            let expected =
                Torn { bytes: part as u64, hash: Hash::of(&third.as_bytes()[..part]), ends_its_line: false };
            assert_eq!(torn.torn, Some(expected), "{part}");
        }
        let zeros = tail(&[file.as_bytes(), &vec![0; 70_000], b"\nx\n"].concat());
        assert_eq!(zeros.head, Some(after));
        assert_eq!(zeros.torn.map(|torn| (torn.bytes, torn.ends_its_line)), Some((70_002, true)));
        let none = tail(&third.as_bytes()[..20_000]);
        assert_eq!((none.head, none.torn.unwrap().bytes), (None, 20_000));
    }
}
