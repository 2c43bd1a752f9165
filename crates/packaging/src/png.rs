//! PNG files: whether bytes are one, and how large the picture is.

/// The size of a picture in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Png {
    pub width: u32,
    pub height: u32,
}

/// Reads the head of a PNG file; `None` if it is none.
pub fn png(bytes: &[u8]) -> Option<Png> {
    let head = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")?;
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let picture = Png { width: number(0)?, height: number(4)? };
    (picture.width > 0 && picture.height > 0).then_some(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_head_of_a_png_is_one() {
        let head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x02\x00\x00\x00\x01\x00\x08\x06";
        assert_eq!(png(head), Some(Png { width: 512, height: 256 }));
        for wrong in [&b""[..], b"\x89PNG", b"<svg/>", b"\xff\xd8\xff\xe0 a JPEG", &head[..20]] {
            assert_eq!(png(wrong), None, "{wrong:?}");
        }
    }
}
