//! Hash chain: each line has a number, and the SHA-256 of the line before it.

use ring::digest::{SHA256, digest};
use serde::Deserialize;
use std::fmt::{self, Display, Write as _};
use std::str::FromStr;

/// The end of a chain: the number of its last line, and the SHA-256 of that line without its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seq: u64,
    pub hash: Hash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

/// A head as `audit head` prints it: with the name of its chain, if it is one of several in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedHead {
    pub chain: Option<String>,
    pub head: Head,
}

/// A text that is no `SEQ:HASH`.
#[derive(Debug, thiserror::Error)]
#[error(
    "a head is a number, a colon and 64 hexadecimal digits, as `audit head` prints it; that of a store begins with its chain"
)]
pub struct NoHead;

/// How every line begins.
pub(crate) const BEGINNING: &str = r#"{"seq":"#;

impl Head {
    /// Before the first line.
    pub(crate) const START: Self = Self { seq: 0, hash: Hash([0; 32]) };

    /// The next line with its line break, and the head after it.
    pub(crate) fn next(&self, members: &str) -> (String, Self) {
        let seq = self.seq + 1;
        let mut line = String::with_capacity(members.len() + 110);
        let _ = write!(line, r#"{BEGINNING}{seq},"prev":"{}",{members}}}"#, self.hash);
        let hash = Hash::of(line.as_bytes());
        line.push('\n');
        (line, Self { seq, hash })
    }
}

impl Hash {
    pub(crate) fn of(line: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, line).as_ref());
        Self(hash)
    }
}

/// What links a line to its neighbours.
#[derive(Debug, Deserialize)]
pub(crate) struct Link {
    pub(crate) seq: u64,
    prev: String,
    pub(crate) time: String,
    #[serde(rename = "event.name")]
    pub(crate) event: String,
    #[serde(rename = "torn.hash")]
    torn: Option<String>,
    #[serde(rename = "event.id")]
    pub(crate) event_id: Option<String>,
    #[serde(rename = "call.id")]
    pub(crate) call_id: Option<String>,
}

impl Link {
    /// The link of a line, without its line break, if the line is a record.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let read: Self =
            line.starts_with(BEGINNING.as_bytes()).then(|| serde_json::from_slice(line).ok())??;
        (read.seq > 0 && read.previous().is_some()).then_some(read)
    }

    pub(crate) fn previous(&self) -> Option<Hash> {
        self.prev.parse().ok()
    }

    /// The hash of the incomplete text before this line.
    pub(crate) fn torn(&self) -> Option<Hash> {
        self.torn.as_ref()?.parse().ok()
    }
}

impl Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (byte, pair) in self.0.iter().zip(text.chunks_exact_mut(2)) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        formatter.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl FromStr for Hash {
    type Err = NoHead;

    fn from_str(text: &str) -> Result<Self, NoHead> {
        let digit = |letter: u8| char::from(letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let text = text.as_bytes();
        if text.len() != 64 {
            return Err(NoHead);
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0]).ok_or(NoHead)? << 4 | digit(pair[1]).ok_or(NoHead)?;
        }
        Ok(Self(hash))
    }
}

impl Display for Head {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = NoHead;

    fn from_str(text: &str) -> Result<Self, NoHead> {
        let (seq, hash) = text.trim().split_once(':').ok_or(NoHead)?;
        Ok(Self { seq: seq.parse().map_err(|_| NoHead)?, hash: hash.parse()? })
    }
}

impl Display for NamedHead {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(chain) = &self.chain {
            write!(formatter, "{chain}:")?;
        }
        Display::fmt(&self.head, formatter)
    }
}

impl FromStr for NamedHead {
    type Err = NoHead;

    fn from_str(text: &str) -> Result<Self, NoHead> {
        let text = text.trim();
        let (chain, head) = match text.match_indices(':').nth_back(1) {
            Some((colon, _)) => (Some(&text[..colon]), &text[colon + 1..]),
            None => (None, text),
        };
        Ok(Self { chain: chain.map(str::to_owned), head: head.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_hash_of_the_one_before() {
        let members = r#""time":"t","event.name":"e""#;
        let (first, head) = Head::START.next(members);
        let (second, after) = head.next(members);
        let link = Link::read(second.trim_end().as_bytes()).unwrap();
        assert_eq!((link.seq, link.previous()), (2, Some(Hash::of(first.trim_end().as_bytes()))));
        assert_eq!(after, Head { seq: 2, hash: Hash::of(second.trim_end().as_bytes()) });
        assert!(first.starts_with(&format!(r#"{{"seq":1,"prev":"{}","#, "0".repeat(64))));
    }

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let (_, head) = Head::START.next("\"a\":1");
        assert_eq!(head.to_string().parse::<Head>().unwrap(), head);
        for wrong in [
            "",
            "1",
            "1:",
            ":00",
            "x:00",
            &format!("-1:{}", "0".repeat(64)),
            &format!("1:{}", "g".repeat(64)),
        ] {
            assert!(wrong.parse::<Head>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_head_of_a_store_names_its_chain() {
        let (_, head) = Head::START.next("\"a\":1");
        for chain in [None, Some("0a1b".to_owned())] {
            let named = NamedHead { chain, head };
            assert_eq!(named.to_string().parse::<NamedHead>().unwrap(), named);
        }
        for wrong in ["", ":", "a:1", "a:1:00", &format!("a:1:{head}x")] {
            assert!(wrong.parse::<NamedHead>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_record_has_no_link() {
        let (line, _) = Head::START.next(r#""time":"t","event.name":"e""#);
        assert!(Link::read(line.trim_end().as_bytes()).is_some());
        for wrong in
            [&line[..line.len() - 2], "", "{}", r#" {"seq":1}"#, &line.replace("\"seq\":1", "\"seq\":0")]
        {
            assert!(Link::read(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }
}
