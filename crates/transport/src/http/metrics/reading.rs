//! Metrics parser for tests, as strict as the scrapers.

use std::collections::{BTreeMap, HashSet};

pub(super) type Samples = BTreeMap<String, String>;

/// A metric family, from its `TYPE` line.
struct Family {
    name: String,
    kind: String,
    has_help: bool,
}

/// Parses the text into sample values by name with labels. An error says which rule of the format is broken.
pub(super) fn read(text: &str, is_open: bool) -> Result<Samples, String> {
    let (mut samples, mut families) = (BTreeMap::new(), HashSet::new());
    let mut family: Option<Family> = None;
    let mut lines = text.strip_suffix('\n').ok_or("the last line has no end")?.split('\n').peekable();
    while let Some(line) = lines.next() {
        let wrong = |what: &str| Err(format!("{what}: {line}"));
        if line == "# EOF" {
            if !is_open || lines.peek().is_some() {
                return wrong("an end that is none");
            }
            return histograms_are_whole(samples);
        }
        if let Some(comment) = line.strip_prefix("# ") {
            let words: Vec<&str> = comment.splitn(3, ' ').collect();
            match *words {
                ["TYPE", name, kind] => {
                    if !families.insert(name.to_owned()) {
                        return wrong("a family that was there before");
                    }
                    if !is_name(name) || !["histogram", "gauge", "counter"].contains(&kind) {
                        return wrong("no family");
                    }
                    family = Some(Family { name: name.to_owned(), kind: kind.to_owned(), has_help: false });
                }
                ["UNIT", name, unit] => {
                    if !is_open || !name.ends_with(&format!("_{unit}")) {
                        return wrong("a unit that is not part of the name");
                    }
                }
                ["HELP", name, _] => match &mut family {
                    Some(family) if family.name == name && !family.has_help => family.has_help = true,
                    _ => return wrong("help for another family"),
                },
                _ => return wrong("an unknown comment"),
            }
            continue;
        }
        let Some(family) = family.as_ref().filter(|family| family.has_help) else {
            return wrong("a sample without a family");
        };
        let (key, value) = line.rsplit_once(' ').ok_or_else(|| format!("no value: {line}"))?;
        let number: f64 = value.parse().map_err(|error| format!("{error}: {line}"))?;
        let (name, labels) = match key.split_once('{') {
            None => (key, ""),
            Some((name, rest)) => (name, rest.strip_suffix('}').ok_or_else(|| format!("no end: {line}"))?),
        };
        if !is_name(name) || !belongs(name, family, is_open) || !are_labels(labels) || number < 0.0 {
            return wrong("no sample of its family");
        }
        if samples.insert(format!("{name}{{{labels}}}"), value.to_owned()).is_some() {
            return wrong("a sample that was there before");
        }
    }
    if is_open { Err("the end is missing".to_owned()) } else { histograms_are_whole(samples) }
}

fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b':';
    text.bytes().next().is_some_and(is_letter)
        && text.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

fn belongs(sample: &str, family: &Family, is_open: bool) -> bool {
    let Some(ending) = sample.strip_prefix(&family.name) else { return false };
    match (&*family.kind, is_open) {
        ("histogram", _) => ["_bucket", "_count", "_sum"].contains(&ending),
        ("counter", true) => ending == "_total",
        _ => ending.is_empty(),
    }
}

/// Whether the text is a list of labels with quoted values and unique names.
fn are_labels(text: &str) -> bool {
    let (mut rest, mut names) = (text, HashSet::new());
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once("=\"") else { return false };
        if !is_name(name) || !names.insert(name) {
            return false;
        }
        let (mut end, mut is_escaped) = (None, false);
        for (index, character) in after.char_indices() {
            match character {
                '\\' | 'n' | '"' if is_escaped => is_escaped = false,
                _ if is_escaped => return false,
                '\\' => is_escaped = true,
                '"' => {
                    end = Some(index);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else { return false };
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) if !more.is_empty() => rest = more,
            None if rest.is_empty() => {}
            _ => return false,
        }
    }
    true
}

/// Checks that the buckets of each histogram are cumulative, and that the last one is infinite and equals the count.
fn histograms_are_whole(samples: Samples) -> Result<Samples, String> {
    for (key, count) in samples.iter().filter(|(key, _)| key.contains("_count{")) {
        let bucket = key.replace("_count{", "_bucket{");
        let bucket = bucket.strip_suffix('}').ok_or("no labels")?;
        let mut bounds: Vec<(f64, u64)> = Vec::new();
        let beginning = format!("{bucket},le=\"");
        let buckets = samples.range(beginning.clone()..);
        for (key, value) in buckets.take_while(|(key, _)| key.starts_with(&beginning)) {
            if let Some(bound) = key[beginning.len()..].strip_suffix("\"}") {
                let bound = if bound == "+Inf" { "inf" } else { bound };
                let bound = bound.parse().map_err(|_| format!("no bound: {key}"))?;
                bounds.push((bound, value.parse().map_err(|_| format!("no number: {key}"))?));
            }
        }
        bounds.sort_by(|one, other| one.0.total_cmp(&other.0));
        let is_whole =
            bounds.last().is_some_and(|(bound, value)| bound.is_infinite() && value.to_string() == *count)
                && bounds.is_sorted_by(|one, other| one.1 <= other.1)
                && samples.contains_key(&key.replace("_count{", "_sum{"));
        if !is_whole {
            return Err(format!("not whole: {key} {bounds:?}"));
        }
    }
    Ok(samples)
}
