//! Stamps file: what the files of a registry looked like, as text. Only we read it, and at every start. It is not JSON,
//! because JSON would take several times as long to read for the same numbers.
//!
//! The first record names the rules that decided which files are entries, and the registry that the stamps belong to. Each
//! other record holds five numbers for the file, five more or a `-` for its metadata, and the path, the only part that may
//! hold spaces. A record ends with NUL, the one byte that no path can hold.

use crate::ground::stamp::{Stamp, Stamps};
use std::collections::HashMap;
use std::fmt::Write as _;

const END: char = '\0';

pub(crate) fn write(stamps: &HashMap<Box<str>, Stamps>, first: &str) -> String {
    let mut text = format!("{first}{END}");
    for (path, Stamps { file, metadata }) in stamps {
        push(file, &mut text);
        match metadata {
            Some(metadata) => push(metadata, &mut text),
            None => text.push_str("- "),
        }
        text.push_str(path);
        text.push(END);
    }
    text
}

fn push(Stamp(seconds, nanoseconds, size, inode, mode): &Stamp, text: &mut String) {
    // Writing to memory cannot fail.
    let _ = write!(text, "{seconds} {nanoseconds} {size} {inode} {mode} ");
}

/// The stamps by path, or nothing if the first record is another.
pub(crate) fn parse(text: &str, first: &str) -> Option<HashMap<Box<str>, Stamps>> {
    let mut records = text.split_terminator(END);
    records.next().filter(|record| *record == first)?;
    let records: Option<Vec<_>> = records.map(record).collect();
    records.map(HashMap::from_iter)
}

fn record(mut rest: &str) -> Option<(Box<str>, Stamps)> {
    let file = stamp(&mut rest)?;
    let metadata = match rest.strip_prefix("- ") {
        Some(path) => {
            rest = path;
            None
        }
        None => Some(stamp(&mut rest)?),
    };
    Some((rest.into(), Stamps { file, metadata }))
}

fn stamp(rest: &mut &str) -> Option<Stamp> {
    let mut number = || {
        let (word, after) = rest.split_once(' ')?;
        *rest = after;
        Some(word)
    };
    Some(Stamp(
        number()?.parse().ok()?,
        number()?.parse().ok()?,
        number()?.parse().ok()?,
        number()?.parse().ok()?,
        number()?.parse().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_is_read_back() {
        let stamp = Stamp(-1, 999_999_999, i64::MAX, u64::MAX, 0o100_755);
        let alone = Stamps { file: stamp, metadata: None };
        let both = Stamps { file: stamp, metadata: Some(Stamp(0, 0, 0, 0, 0)) };
        let stamps: HashMap<Box<str>, Stamps> =
            [("a b/- \n.sh", alone), ("- ", both), ("7 7/tool.sh", both), ("", alone)]
                .map(|(path, stamps)| (path.into(), stamps))
                .into();
        assert_eq!(parse(&write(&stamps, "rules"), "other rules"), None);
        assert_eq!(parse(&write(&stamps, "rules"), "rules"), Some(stamps));
        assert_eq!(parse(&write(&HashMap::new(), "rules"), "rules"), Some(HashMap::new()));
    }

    #[test]
    fn a_foreign_file_is_not_read() {
        for text in ["{}", "1 2 3 4", "1 2 3 4 5 path", "1 2 3 4 x - path\0", "1 2 3 4 5 6 7 8 9 path\0"] {
            assert_eq!(parse(text, "rules"), None, "{text}");
            assert_eq!(parse(&format!("rules\0{text}"), "rules"), None, "{text}");
        }
    }
}
