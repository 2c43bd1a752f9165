//! `Accept` header: which media types a client accepts. Without the header it accepts all.

use http::HeaderMap;
use http::header::ACCEPT;

/// Whether the client accepts `kind`, such as `text/event-stream`.
pub(in crate::http) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let family = kind.split('/').next().unwrap_or(kind);
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let is_meant = range == "*/*"
            || range.eq_ignore_ascii_case(kind)
            || range.strip_suffix("/*").is_some_and(|prefix| prefix.eq_ignore_ascii_case(family));
        is_meant && !parts.any(is_zero_quality)
    })
}

/// Whether a parameter is `q=0`, which excludes the media range.
fn is_zero_quality(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    name.trim().eq_ignore_ascii_case("q") && value.trim().parse::<f32>().is_ok_and(|quality| quality <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(accept: &[&'static str], kind: &str) -> bool {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(ACCEPT, value.parse().unwrap());
        }
        accepts(&headers, kind)
    }

    #[test]
    fn kinds_are_found_in_lists_and_behind_wildcards() {
        let both = ["application/json, text/event-stream"];
        for accept in [&both[..], &["*/*"], &["Application/JSON", "TEXT/Event-Stream;q=0.5"], &[]] {
            assert!(taken(accept, "application/json") && taken(accept, "text/event-stream"), "{accept:?}");
        }
        assert!(taken(&["text/*"], "text/event-stream") && !taken(&["text/*"], "application/json"));
        assert!(!taken(&["application/json"], "text/event-stream"));
        assert!(!taken(&["text/event-stream;q=0, application/json"], "text/event-stream"));
        assert!(
            !taken(&["application/jsonx, text/html"], "application/json")
                && !taken(&[""], "application/json")
        );
    }
}
