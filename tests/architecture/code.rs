//! Rust code with comments, literals and test items blanked out. Line numbers stay the same.

/// The code of a file, with blanks for everything else.
pub(super) fn code_only(text: &str) -> String {
    without_test_items(&without_literals(text))
}

/// The modules that a file declares for tests only, in separate files.
pub(super) fn test_modules(text: &str) -> Vec<String> {
    let text = without_literals(text);
    let items = text.split("#[cfg(test)]").skip(1);
    let names = items.filter_map(|item| {
        let (name, _) = item.trim_start().strip_prefix("mod ")?.split_once([';', '{'])?;
        Some(name.trim().to_owned())
    });
    names.collect()
}

fn without_literals(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => Some(find(bytes, at, b"\n")),
            b'/' if bytes[at..].starts_with(b"/*") => Some(end_of_comment(bytes, at)),
            b'"' => Some(end_of_string(bytes, at)),
            b'r' if !continues_word(bytes, at) => end_of_raw_string(bytes, at),
            b'\'' => end_of_character(bytes, at),
            _ => None,
        };
        if let Some(end) = end {
            blank(&mut code[at..end]);
        }
        at = end.unwrap_or(at + 1);
    }
    String::from_utf8(code).expect("whole characters were replaced")
}

/// Blanks out every item with `#[cfg(test)]`: to the end of its block, or of its statement.
fn without_test_items(code: &str) -> String {
    let mut left = code.as_bytes().to_vec();
    let mut at = 0;
    while let Some(start) = code[at..].find("#[cfg(test)]").map(|found| at + found) {
        let mut depth = 0_usize;
        let mut end = start + "#[cfg(test)]".len();
        while let Some(byte) = code.as_bytes().get(end) {
            end += 1;
            match byte {
                b'{' => depth += 1,
                b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                b';' if depth == 0 => break,
                _ => {}
            }
        }
        blank(&mut left[start..end]);
        at = end;
    }
    String::from_utf8(left).expect("whole characters were replaced")
}

fn blank(code: &mut [u8]) {
    for byte in code.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

/// The position of the next `what`, or the end of the text.
fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    let found = bytes[from..].windows(what.len()).position(|window| window == what);
    found.map_or(bytes.len(), |found| from + found)
}

/// Block comments are nested.
fn end_of_comment(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut at) = (1, from + 2);
    while depth > 0 && at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
        } else {
            at += 1;
        }
    }
    at
}

fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The end of `r"…"` or `r#"…"#`. None if `r` only starts a word.
fn end_of_raw_string(bytes: &[u8], from: usize) -> Option<usize> {
    let hashes = bytes[from + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = from + 1 + hashes;
    (bytes.get(open) == Some(&b'"')).then(|| {
        let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
        (find(bytes, open + 1, &close) + close.len()).min(bytes.len())
    })
}

/// The end of a character literal. None for a lifetime.
fn end_of_character(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = std::str::from_utf8(&bytes[from + 1..]).ok()?;
    let mut characters = rest.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        // The escaped character may itself be a quote.
        return Some((find(bytes, from + 3, b"'") + 1).min(bytes.len()));
    }
    let (end, second) = characters.next()?;
    (second == '\'').then_some(from + 1 + end + 1)
}

/// Whether the byte continues a word. `b` and `c` may precede a raw string.
fn continues_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match at.checked_sub(1).map(|before| bytes[before]) {
        Some(b'b' | b'c') => at >= 2 && is_word(bytes[at - 2]),
        Some(byte) => is_word(byte),
        None => false,
    }
}
