//! Excerpts of what a program printed, for messages.

/// The beginning of what an executable printed, on one line.
pub fn excerpt(printed: &str) -> String {
    const LONGEST: usize = 200;
    let line = printed.trim().replace(['\n', '\r', '\t'], " ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "nothing".to_owned(),
        None => line,
    }
}
