//! Sizes: `512M` as a number of bytes.

/// A positive number of bytes with an optional unit: `K`, `M`, `G` or `T`, with or without `B` or `iB`; powers of 1024.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    (bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("1", 1), ("512M", 512 << 20), ("2 GiB", 2 << 30), ("100kb", 100 << 10)] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
        for text in ["", "0", "M", "1.5G", "-1", "1X", "99999999999T"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
