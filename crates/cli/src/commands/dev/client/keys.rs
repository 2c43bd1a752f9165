//! Keys: decodes the bytes from a terminal.

/// A key, as far as a line editor needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    Home,
    End,
    Up,
    Down,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    /// Ctrl-U.
    EraseBefore,
    /// Ctrl-K.
    EraseAfter,
    /// Ctrl-W.
    EraseWord,
    /// Ctrl-L.
    Clear,
    Unknown,
}

/// The next key. `next` waits for a byte, `soon` returns one only if it comes at once. `None` at the end of the input.
pub(super) fn read(
    mut next: impl FnMut() -> Option<u8>,
    mut soon: impl FnMut() -> Option<u8>,
) -> Option<Key> {
    let byte = next()?;
    Some(match byte {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x7f | 0x08 => Key::Backspace,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Interrupt,
        0x04 => Key::EndOfInput,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x0b => Key::EraseAfter,
        0x0c => Key::Clear,
        0x0e => Key::Down,
        0x10 => Key::Up,
        0x15 => Key::EraseBefore,
        0x17 => Key::EraseWord,
        0x1b => escape(&mut soon),
        0..0x20 => Key::Unknown,
        0x20..0x7f => Key::Char(char::from(byte)),
        _ => character(byte, &mut next),
    })
}

/// A key that a terminal sends as several bytes; all of them are consumed, whatever they mean.
fn escape(soon: &mut impl FnMut() -> Option<u8>) -> Key {
    match soon() {
        Some(b'[' | b'O') => {}
        _ => return Key::Unknown,
    }
    let mut number = Vec::new();
    loop {
        match soon() {
            Some(byte @ 0x40..=0x7e) => return of_sequence(&number, byte),
            Some(byte) if number.len() < 16 => number.push(byte),
            _ => return Key::Unknown,
        }
    }
}

fn of_sequence(number: &[u8], last: u8) -> Key {
    match (number, last) {
        (_, b'A') => Key::Up,
        (_, b'B') => Key::Down,
        (_, b'C') => Key::Right,
        (_, b'D') => Key::Left,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        (_, b'F') | (b"4" | b"8", b'~') => Key::End,
        (b"3", b'~') => Key::Delete,
        _ => Key::Unknown,
    }
}

/// A character of several bytes.
fn character(first: u8, next: &mut impl FnMut() -> Option<u8>) -> Key {
    let length = match first {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => return Key::Unknown,
    };
    let mut bytes = vec![first];
    while bytes.len() < length {
        match next() {
            Some(byte @ 0x80..0xc0) => bytes.push(byte),
            _ => return Key::Unknown,
        }
    }
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.chars().next().filter(|character| !character.is_control()).map_or(Key::Unknown, Key::Char)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(typed: &[u8]) -> Vec<Key> {
        let bytes = std::cell::RefCell::new(typed.iter().copied());
        let take = || bytes.borrow_mut().next();
        std::iter::from_fn(|| read(take, take)).collect()
    }

    #[test]
    fn bytes_are_keys() {
        assert_eq!(
            keys(b"a\xc3\xa9\x1b[A\x1b[3~\x1bOH\t\r"),
            [Key::Char('a'), Key::Char('é'), Key::Up, Key::Delete, Key::Home, Key::Tab, Key::Enter,]
        );
        assert_eq!(keys(b"\x1b[1;5C\x03\x04"), [Key::Right, Key::Interrupt, Key::EndOfInput]);
    }

    #[test]
    fn unknown_sequences_are_swallowed_completely() {
        assert_eq!(keys(b"\x1b[200~x\xff\xc3"), [Key::Unknown, Key::Char('x'), Key::Unknown, Key::Unknown]);
        assert_eq!(keys(b"\xc2\x9b"), [Key::Unknown], "a control character of two bytes");
        assert_eq!(keys(&[b"\x1b[" as &[u8], &[b'1'; 100]].concat()).first(), Some(&Key::Unknown));
    }
}
