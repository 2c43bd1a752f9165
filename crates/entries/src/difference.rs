//! Diff: the lines in which two texts differ, with context. It has a single hunk, because an entry is in one place.

use std::fmt::Write;

/// How many lines of context are shown before and after.
const AROUND: usize = 3;

pub(crate) fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let shortest = old.len().min(new.len()) - first;
    let last =
        old.iter().rev().zip(new.iter().rev()).take(shortest).take_while(|(old, new)| old == new).count();
    let (start, old_end, new_end) = (first.saturating_sub(AROUND), old.len() - last, new.len() - last);
    let mut text = String::new();
    let mut show = |sign: char, lines: &[&str]| {
        for line in lines {
            let _ = writeln!(text, "{sign}{line}");
        }
    };
    show(' ', &old[start..first]);
    show('-', &old[first..old_end]);
    show('+', &new[first..new_end]);
    show(' ', &old[old_end..old.len().min(old_end + AROUND)]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_shown_with_their_context() {
        assert_eq!(
            difference("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\ny\n6\n7\n8\n9"),
            " 2\n 3\n 4\n-5\n+x\n+y\n 6\n 7\n 8\n"
        );
        assert_eq!(difference("", "a\n"), "+a\n");
        assert_eq!(difference("a\n", ""), "-a\n");
        assert_eq!(difference("a\na\n", "a\na\na\n"), " a\n a\n+a\n");
        assert_eq!(difference("a\n", "a\n"), " a\n");
    }
}
