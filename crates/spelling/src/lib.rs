//! Spelling suggestions: the known word that a misspelt one most likely means, such as a key of metadata or the name of
//! a setting.
//!
//! Upper and lower case, `_` and `-` make no difference. Words that are too long to be a typo have no nearest word, so
//! that the time of a comparison is limited.

/// The longest word that is compared, in bytes.
const LONGEST: usize = 64;

/// The known word that differs in the fewest letters, if these are few enough for a typo.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = letters(word)?;
    let most = (word.len() / 3).max(1);
    let distances = known.into_iter().filter_map(|other| Some((distance(&word, &letters(other)?), other)));
    distances.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, k)| k)
}

/// The same, or else the shortest known word that begins or ends with this one: `timeoutSecs` for `timeout`.
pub fn nearest_or_longer<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    /// A shorter word is the beginning of too many words.
    const LEAST: usize = 4;
    nearest(word, known.iter().copied()).or_else(|| {
        let word = letters(word).filter(|word| word.len() >= LEAST)?;
        let is_part = |other: &&&str| {
            letters(other).is_some_and(|other| other.starts_with(&word) || other.ends_with(&word))
        };
        known.iter().filter(is_part).min_by_key(|other| other.len()).copied()
    })
}

/// The part of a word that is compared; `None` if it is empty or too long.
fn letters(word: &str) -> Option<Vec<u8>> {
    if word.len() > LONGEST {
        return None;
    }
    let letters = word.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
    let letters: Vec<u8> = letters.map(|byte| byte.to_ascii_lowercase()).collect();
    (!letters.is_empty()).then_some(letters)
}

/// How many letters must be inserted, deleted, changed or swapped with their neighbour to turn one word into the other.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for (index, row) in rows.iter_mut().enumerate() {
        row[0] = index;
    }
    rows[0] = (0..=other.len()).collect();
    for i in 1..=one.len() {
        for j in 1..=other.len() {
            let changed = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            let is_swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if is_swapped {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] =
        ["name", "description", "inputSchema", "outputSchema", "timeoutSecs", "timeoutHint"];

    #[test]
    fn a_slip_leads_to_the_word_that_was_meant() {
        for (written, meant) in [
            ("descripton", "description"),
            ("Description", "description"),
            ("input_schema", "inputSchema"),
            ("inputSchmea", "inputSchema"),
            ("timeout", "timeoutSecs"),
            ("timeoutSeconds", "timeoutSecs"),
            ("nmae", "name"),
        ] {
            assert_eq!(nearest_or_longer(written, &KNOWN), Some(meant), "{written}");
        }
    }

    #[test]
    fn another_word_leads_nowhere_and_a_long_one_costs_nothing() {
        let long = "n".repeat(1_000_000);
        for word in ["category", "x", "", "__", "tags", &long] {
            assert_eq!(nearest_or_longer(word, &KNOWN), None, "{word}");
        }
        assert_eq!(nearest("timeout", KNOWN), None);
    }
}
