//! Versions, as `--min-version` and `server.d/requirements.json` name them.

/// The newest release of mcp-bash in bash whose projects this program serves.
pub(super) const STANDS_IN_FOR: &str = "1.3.0";

/// The numbers of a version: `v1.2` is `1.2.0`. `None` if it is none.
pub(super) fn numbers(version: &str) -> Option<[u64; 3]> {
    let version = version.trim();
    let version = version.strip_prefix('v').unwrap_or(version);
    let plain = version.split(['-', '+']).next().unwrap_or_default();
    let mut found = [0; 3];
    let mut parts = plain.split('.');
    for number in &mut found {
        match parts.next() {
            Some(part) => *number = part.parse().ok()?,
            None => break,
        }
    }
    (parts.next().is_none() && !plain.is_empty()).then_some(found)
}

/// Whether this program has at least that version, by its own number or by that of the release it replaces.
pub(super) fn is_enough(wanted: [u64; 3]) -> bool {
    [env!("CARGO_PKG_VERSION"), STANDS_IN_FOR].iter().filter_map(|own| numbers(own)).any(|own| own >= wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_and_compared_as_such() {
        assert_eq!(numbers("v1.2"), Some([1, 2, 0]));
        assert_eq!(numbers("10.0.3-rc.1"), Some([10, 0, 3]));
        for wrong in ["", "v", "1.x", "1.2.3.4", "latest", "-1"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
        assert!(
            is_enough([1, 2, 9]) && is_enough([1, 3, 0]) && !is_enough([1, 3, 1]) && !is_enough([10, 0, 0])
        );
    }
}
