//! Patterns: the forms in which a secret may occur, indexed by their last eight bytes.

use crate::secret::SHORTEST;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The longest pattern, in bytes. This bounds the time of a comparison.
pub(super) const LONGEST: usize = 64;

/// How many bytes of a pattern make its key.
pub(super) const KEY: usize = size_of::<u64>();

pub(super) struct Patterns {
    /// Ordered by key.
    all: Vec<(u64, Box<[u8]>)>,
    /// One bit for each hash of a key: almost all positions of a text are dismissed by it.
    filter: Vec<u64>,
    /// How far a hash is shifted, so that it is the number of a bit.
    shift: u32,
}

impl Patterns {
    pub(super) fn new<'s>(secrets: impl Iterator<Item = &'s [u8]>) -> Self {
        let mut forms = BTreeSet::new();
        for secret in secrets {
            add_forms(&mut forms, secret.trim_ascii());
        }
        let pieces: BTreeSet<&[u8]> = forms.iter().flat_map(|form| pieces(form)).collect();
        let mut all: Vec<_> = pieces.into_iter().map(|piece| (key_of(piece), piece.into())).collect();
        all.sort_unstable();
        let bits = (all.len() * 64).next_power_of_two().max(1 << 14);
        let mut patterns = Self { all, filter: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() };
        for index in 0..patterns.all.len() {
            let (word, bit) = patterns.bit_of(patterns.all[index].0);
            patterns.filter[word] |= bit;
        }
        patterns
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &[u8]> {
        self.all.iter().map(|(_, pattern)| &**pattern)
    }

    /// The patterns that end with these eight bytes.
    #[inline]
    pub(super) fn ending_with(&self, key: u64) -> &[(u64, Box<[u8]>)] {
        let (word, bit) = self.bit_of(key);
        if self.filter[word] & bit == 0 {
            return &[];
        }
        let start = self.all.partition_point(|(known, _)| *known < key);
        let same = self.all[start..].partition_point(|(known, _)| *known == key);
        &self.all[start..start + same]
    }

    #[inline]
    fn bit_of(&self, key: u64) -> (usize, u64) {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        let hash = usize::try_from(hash).unwrap_or_default();
        (hash / 64, 1 << (hash % 64))
    }
}

/// The last eight bytes of a pattern as a number.
fn key_of(pattern: &[u8]) -> u64 {
    pattern[pattern.len() - KEY..].iter().fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// The forms of a value, and of each of its lines that is long enough to be recognized.
fn add_forms(forms: &mut BTreeSet<Vec<u8>>, value: &[u8]) {
    add_writings(forms, value);
    if memchr::memchr(b'\n', value).is_some() {
        for line in value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            add_writings(forms, line);
        }
    }
}

/// The ways to write some bytes.
fn add_writings(forms: &mut BTreeSet<Vec<u8>>, bytes: &[u8]) {
    // Line breaks are ignored in a text that is read with its escapes, but not in a text as it is written.
    let plain: Vec<u8> = bytes.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    if plain.len() < SHORTEST {
        return;
    }
    if plain.contains(&b' ') {
        // In forms, a space is a plus sign.
        forms.insert(plain.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect());
    }
    if plain.iter().any(|byte| matches!(byte, b'"' | b'\\')) {
        // As a string in a document that is itself a string.
        let escaped = plain.iter().flat_map(|byte| {
            let is_escaped = matches!(byte, b'"' | b'\\');
            is_escaped.then_some(b'\\').into_iter().chain([*byte])
        });
        forms.insert(escaped.collect());
    }
    if plain.contains(&b'\'') {
        // As a shell writes it in single quotes, also in a trace.
        let quoted = plain
            .iter()
            .flat_map(|byte| if *byte == b'\'' { &b"'\\''"[..] } else { std::slice::from_ref(byte) });
        forms.insert(quoted.copied().collect());
    }
    forms.insert(plain);
    forms.insert(bytes.to_vec());
    for shift in 0..3 {
        let shifted = [&[0; 2][..shift], bytes].concat();
        // The first and the last character may depend on what is beside the secret.
        let first = (shift * 8).div_ceil(6);
        let end = shifted.len() * 8 / 6;
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&shifted);
            forms.insert(encoded.as_bytes()[first..end].to_vec());
            // The secret is the end of what was encoded, as it is if nothing else was.
            forms.insert(encoded.as_bytes()[first..].to_vec());
        }
    }
    let digits = bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    });
    forms.insert(digits.to_ascii_uppercase().into_bytes());
    forms.insert(digits.into_bytes());
}

/// A form in pieces of limited length, none of them too short.
fn pieces(form: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts = (0..form.len()).step_by(LONGEST);
    starts.map(|start| {
        let start = start.min(form.len().saturating_sub(LONGEST));
        &form[start..form.len().min(start + LONGEST)]
    })
}
