//! Excerpts: the beginning of a text that may be megabytes long.

use std::borrow::Cow;

/// The first `most` characters, and a mark if there were more.
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::clip;

    #[test]
    fn only_longer_text_is_cut_and_never_inside_a_character() {
        assert_eq!(clip("", 2), "");
        assert_eq!(clip("éé", 2), "éé");
        assert_eq!(clip("ééé", 2), "éé…");
    }
}
