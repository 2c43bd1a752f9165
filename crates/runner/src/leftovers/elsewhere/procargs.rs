//! The memory of a process that holds its arguments and its environment, as `KERN_PROCARGS2` of macOS copies it: the
//! number of arguments, the path of the program, zeroes, the arguments, the variables, and an empty string.

/// A variable of the environment. Apple's own programs show none.
pub(super) fn variable<'a>(memory: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (count, rest) = memory.split_first_chunk::<4>()?;
    let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
    let rest = &rest[rest.iter().position(|byte| *byte == 0)?..];
    let rest = &rest[rest.iter().position(|byte| *byte != 0)?..];
    let variables = rest.split(|byte| *byte == 0).skip(count).take_while(|variable| !variable.is_empty());
    let mut values =
        variables.filter_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    values.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(count: i32, text: &[u8]) -> Vec<u8> {
        [&count.to_ne_bytes(), text].concat()
    }

    #[test]
    fn a_variable_follows_the_arguments() {
        let text = b"/bin/tool\0\0\0\0tool\0MARK=argument\0MARK=x,y\0LANG=C\0\0stack_guard=1\0";
        assert_eq!(variable(&memory(2, text), "MARK"), Some(&b"x,y"[..]));
        assert_eq!(variable(&memory(2, text), "LANG"), Some(&b"C"[..]));
        assert_eq!(variable(&memory(2, text), "MAR"), None);
        assert_eq!(variable(&memory(2, text), "stack_guard"), None, "it belongs to the system");
    }

    #[test]
    fn memory_that_is_cut_short_has_no_variable() {
        let text = b"/bin/tool\0\0tool\0MARK=x\0";
        for length in 0..text.len() - 7 {
            assert_eq!(variable(&memory(1, &text[..length]), "MARK"), None, "{length} bytes");
        }
        assert_eq!(variable(&memory(-1, text), "MARK"), None);
        assert_eq!(variable(&memory(i32::MAX, text), "MARK"), None);
        assert_eq!(variable(b"", "MARK"), None);
        assert_eq!(variable(&memory(1, b"/bin/tool\0\0\0\0"), "MARK"), None);
    }
}
