//! Links between the pages.

use std::path::Path;

/// The broken links of a page.
pub(crate) fn broken(page: &Path, text: &str) -> Vec<String> {
    let links = targets(text).into_iter().filter(|link| !is_elsewhere(link));
    links
        .filter(|link| !leads_somewhere(page, text, link))
        .map(|link| format!("{}: {link}", page.display()))
        .collect()
}

fn is_elsewhere(link: &str) -> bool {
    ["https:", "http:", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

fn leads_somewhere(page: &Path, text: &str, link: &str) -> bool {
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let target = if file.is_empty() { page.to_owned() } else { page.parent().expect("a folder").join(file) };
    if !target.exists() {
        return false;
    }
    let Some(heading) = heading else { return true };
    let other = std::fs::read_to_string(&target).unwrap_or_default();
    let target = if file.is_empty() { text } else { &other };
    outside_of_blocks(target).iter().any(|line| line.starts_with('#') && anchor(line) == heading)
}

/// The text in `](…)`.
fn targets(text: &str) -> Vec<String> {
    let lines = outside_of_blocks(text).join("\n");
    let parts = lines.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')')).map(|(link, _)| link.to_owned()).collect()
}

fn outside_of_blocks(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut outside = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    };
    text.lines().filter(|line| outside(line)).collect()
}

/// The anchor of a heading, as GitHub and mdBook generate it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
