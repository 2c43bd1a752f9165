//! Lists of `name=value` with commas between them, whose values are percent-encoded: headers and resource attributes.

/// The members of the list, or the number of each that has another form.
pub(crate) fn read(list: &str) -> Vec<Result<(String, String), usize>> {
    let members = list.split(',').map(str::trim).enumerate().filter(|(_, member)| !member.is_empty());
    members.map(|(index, member)| pair(member).ok_or(index + 1)).collect()
}

fn pair(member: &str) -> Option<(String, String)> {
    let (name, value) = member.split_once('=')?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    Some((decoded(name)?, decoded(value.trim())?))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_wrong_members_are_numbered() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(read("a=1, b = x%20y=z ,,c="), [pair("a", "1"), pair("b", "x y=z"), pair("c", "")]);
        assert_eq!(read("a,=b,c=%,d=%zz,e=%ff,f=%+1,g=1").iter().filter(|one| one.is_err()).count(), 6);
        assert_eq!(read(""), []);
    }
}
