//! Spelling suggestions: the known word that a misspelt one most likely means, such as a key of metadata or the name of
//! a setting.
//!
//! Upper and lower case, `_` and `-` make no difference. Words that are too long to be a typo have no nearest word, so
//! that the time of a comparison is limited. `strsim`, which the command line parser brings anyway, counts the letters that
//! were inserted, deleted, changed or swapped with their neighbour.

use strsim::osa_distance;

/// The longest word that is compared, in bytes.
const LONGEST: usize = 64;

/// The known word that differs in the fewest letters, if these are few enough for a typo.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = letters(word)?;
    let most = (word.len() / 3).max(1);
    let distances =
        known.into_iter().filter_map(|other| Some((osa_distance(&word, &letters(other)?), other)));
    distances.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, k)| k)
}

/// The same, or else the shortest known word that begins or ends with this one: `timeoutSecs` for `timeout`.
pub fn nearest_or_longer<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    /// A shorter word is the beginning of too many words.
    const LEAST: usize = 4;
    nearest(word, known.iter().copied()).or_else(|| {
        let word = letters(word).filter(|word| word.len() >= LEAST)?;
        let is_part = |other: &&&str| {
            letters(other).is_some_and(|other| other.starts_with(&*word) || other.ends_with(&*word))
        };
        known.iter().filter(is_part).min_by_key(|other| other.len()).copied()
    })
}

/// The part of a word that is compared; `None` if it is empty or too long.
fn letters(word: &str) -> Option<String> {
    if word.len() > LONGEST {
        return None;
    }
    let letters = word.chars().filter(|letter| !matches!(letter, '_' | '-'));
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    (!letters.is_empty()).then_some(letters)
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
            ("descripción", "description"),
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
