//! Answer log: the questions and answers of a script, so that a replayed script gets the same answers to the same questions.

use super::Digest;

/// Questions that were asked together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round(pub(crate) Vec<Entry>);

/// A question, and its answer if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Box<str>,
    /// The digest of its method and its params.
    pub(crate) question: Digest,
    /// The text of a JSON object.
    pub(crate) answer: Option<Box<str>>,
}

impl Round {
    /// Its size in a state, approximately.
    pub(crate) fn bytes(&self) -> usize {
        let entry =
            |entry: &Entry| 64 + entry.key.len() + entry.answer.as_ref().map_or(0, |answer| answer.len());
        self.0.iter().map(entry).sum()
    }
}

pub(super) fn write_rounds(content: &mut Vec<u8>, rounds: &[Round]) {
    write_length(content, rounds.len());
    for Round(entries) in rounds {
        write_length(content, entries.len());
        for entry in entries {
            write_text(content, &entry.key);
            content.extend_from_slice(&entry.question);
            content.push(u8::from(entry.answer.is_some()));
            write_text(content, entry.answer.as_deref().unwrap_or_default());
        }
    }
}

fn write_text(content: &mut Vec<u8>, text: &str) {
    write_length(content, text.len());
    content.extend_from_slice(text.as_bytes());
}

/// Every text is far shorter than `u32::MAX`.
fn write_length(content: &mut Vec<u8>, length: usize) {
    content.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

/// Reads the written form from the start of the remaining bytes.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn array<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    pub(super) fn rounds(&mut self) -> Option<Vec<Round>> {
        let count = self.length()?;
        (0..count).map(|_| self.round()).collect()
    }

    fn round(&mut self) -> Option<Round> {
        let count = self.length()?;
        (0..count).map(|_| self.entry()).collect::<Option<_>>().map(Round)
    }

    fn entry(&mut self) -> Option<Entry> {
        let (key, question) = (self.text()?, self.array()?);
        let [is_answered] = self.array()?;
        let answer = self.text()?;
        Some(Entry { key, question, answer: (is_answered == 1).then_some(answer) })
    }

    fn text(&mut self) -> Option<Box<str>> {
        let length = self.length()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(Into::into)
    }

    fn length(&mut self) -> Option<usize> {
        self.array().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }
}
