//! Settled files: a client may be writing a file at this moment. Most clients truncate a file and then write it, so
//! that for a moment it is empty, or has only its first lines. Such a file is read again until it has stayed the same
//! for a while.

use crate::content::{Content, FileError};
use std::path::Path;
use std::time::Duration;

/// The time between two reads.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// A file that was changed longer ago is not being written.
const RECENT: Duration = Duration::from_secs(1);

/// After this many equal reads, a text that may lack its end counts as complete.
const LOOKS_AT_MAYBE: u32 = 10;

/// The same for a text that is not a complete file.
const LOOKS_AT_PART: u32 = 50;

/// The most reads in all.
const MOST_LOOKS: u32 = 250;

/// Whether a text can be a complete file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    /// A truncated text would be broken.
    Surely,
    /// It can be parsed, and so could be its beginning.
    Maybe,
    /// It is empty, or broken.
    No,
}

/// Reads a file once it is settled. `pause` is called between two reads.
pub(crate) fn read(
    path: &Path,
    is_whole: &dyn Fn(&str) -> Whole,
    pause: &mut dyn FnMut(),
) -> Result<Content, FileError> {
    let mut last = Content::read(path);
    if !is_recent(path) {
        return last;
    }
    let needed = |look: &Result<Content, FileError>| match look {
        Ok(content) => match content.text.as_deref().map_or(Whole::Surely, is_whole) {
            Whole::Surely => 0,
            Whole::Maybe => LOOKS_AT_MAYBE,
            Whole::No => LOOKS_AT_PART,
        },
        // Half a character, for example.
        Err(_) => LOOKS_AT_PART,
    };
    let (mut looks, mut unchanged) = (0, 0);
    while unchanged < needed(&last) {
        if looks == MOST_LOOKS {
            return Err(FileError::Busy(path.to_owned()));
        }
        pause();
        let next = Content::read(path);
        let is_same = match (&last, &next) {
            (Ok(last), Ok(next)) => last == next,
            (last, next) => last.is_err() && next.is_err(),
        };
        unchanged = if is_same { unchanged + 1 } else { 0 };
        looks += 1;
        last = next;
    }
    last
}

/// Whether a file was changed a moment ago, or in the future by another clock.
fn is_recent(path: &Path) -> bool {
    let modified = path.metadata().and_then(|file| file.modified());
    modified.is_ok_and(|modified| modified.elapsed().map_or(true, |age| age < RECENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::time::SystemTime;

    fn of_json(text: &str) -> Whole {
        if text.trim_start().starts_with('{') && text.trim_end().ends_with('}') {
            Whole::Surely
        } else {
            Whole::No
        }
    }

    /// The result of reading while another program does one thing at each pause.
    fn read_while(
        first: &str,
        is_whole: fn(&str) -> Whole,
        then: &[&dyn Fn(&Path)],
    ) -> (Result<Option<String>, FileError>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, first).unwrap();
        let mut pauses = 0;
        let read = read(&path, &is_whole, &mut || {
            if let Some(step) = then.get(pauses) {
                step(&path);
            }
            pauses += 1;
        });
        (read.map(|content| content.text), pauses)
    }

    fn write(text: &'static str) -> impl Fn(&Path) {
        move |path: &Path| std::fs::write(path, text).unwrap()
    }

    #[test]
    fn a_file_that_is_empty_for_a_moment_is_read_when_it_is_written() {
        let (text, pauses) = read_while("", of_json, &[&|_| (), &write("{\"a\": "), &write("{\"a\": 1}")]);
        assert_eq!((text.unwrap().as_deref(), pauses), (Some("{\"a\": 1}"), 3));
        // Half a character cannot be read, and is not a failure yet.
        let half = |path: &Path| std::fs::write(path, b"{\"\xc3").unwrap();
        let (text, _) = read_while("", of_json, &[&half, &|_| (), &write("{\"é\": 1}")]);
        assert_eq!(text.unwrap().as_deref(), Some("{\"é\": 1}"));
        // Removed, and put there again.
        let gone = |path: &Path| std::fs::remove_file(path).unwrap();
        assert_eq!(read_while("", of_json, &[&gone]).0.unwrap(), None);
    }

    #[test]
    fn an_unchanged_file_counts() {
        let (text, pauses) = read_while("", of_json, &[]);
        assert_eq!((text.unwrap().as_deref(), pauses), (Some(""), LOOKS_AT_PART as usize));
        assert_eq!(read_while("{}", of_json, &[]).1, 0);
        let maybe = |_: &str| Whole::Maybe;
        let (text, pauses) = read_while("a = 1\n", maybe, &[&|_| (), &write("a = 1\nb = 2\n")]);
        assert_eq!((text.unwrap().as_deref(), pauses), (Some("a = 1\nb = 2\n"), LOOKS_AT_MAYBE as usize + 2));
    }

    #[test]
    fn a_file_that_keeps_changing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "").unwrap();
        let mut number = 0;
        let read = read(&path, &of_json, &mut || {
            number += 1;
            std::fs::write(&path, "x".repeat(number)).unwrap();
        });
        assert!(matches!(read, Err(FileError::Busy(_))));
    }

    #[test]
    fn an_old_file_is_read_at_once_whatever_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let long_ago = SystemTime::now() - 2 * RECENT;
        File::create(&path).unwrap().set_times(FileTimes::new().set_modified(long_ago)).unwrap();
        let text = read(&path, &of_json, &mut || panic!("nothing is waited for")).unwrap().text;
        assert_eq!(text.as_deref(), Some(""));
    }
}
