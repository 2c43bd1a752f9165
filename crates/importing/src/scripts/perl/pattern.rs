//! Patterns that a word is compared with: the words that `^--(get|list)=(.*)$` matches.

/// Stands for text that the pattern leaves open.
pub(super) const ANY: char = '\0';

const MOST_WORDS: usize = 40;

/// Longer than any pattern for options.
const LONGEST: usize = 500;

/// The words that a pattern matches, as far as they are fixed. `None` if there are too many, or it is too long.
pub(super) fn words(pattern: &str) -> Option<Vec<String>> {
    if pattern.len() > LONGEST {
        return None;
    }
    let letters: Vec<char> = pattern.chars().collect();
    let mut reader = Reader { letters: &letters, at: 0, depth: 0 };
    let words = reader.alternatives()?;
    (reader.at == letters.len()).then_some(words)
}

struct Reader<'p> {
    letters: &'p [char],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.get(self.at).copied();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn next_if(&mut self, letter: char) -> bool {
        let is_next = self.letters.get(self.at) == Some(&letter);
        self.at += usize::from(is_next);
        is_next
    }

    fn alternatives(&mut self) -> Option<Vec<String>> {
        self.depth += 1;
        if self.depth > 10 {
            return None;
        }
        let mut all = self.sequence()?;
        while self.next_if('|') {
            all.extend(self.sequence()?);
        }
        self.depth -= 1;
        Some(all)
    }

    fn sequence(&mut self) -> Option<Vec<String>> {
        let mut words = vec![String::new()];
        while let Some(letter) = self.letters.get(self.at).copied() {
            if matches!(letter, '|' | ')') {
                break;
            }
            self.at += 1;
            let mut parts = match letter {
                '^' | '$' => continue,
                '(' => {
                    if self.next_if('?') && !self.next_if(':') {
                        return None;
                    }
                    let inner = self.alternatives()?;
                    if !self.next_if(')') {
                        return None;
                    }
                    inner
                }
                '[' => self.class()?,
                '.' => vec![ANY.to_string()],
                '\\' => match self.next()? {
                    'd' | 'w' | 'S' | 's' | 'D' | 'W' => vec![ANY.to_string()],
                    letter if letter.is_ascii_alphanumeric() => return None,
                    letter => vec![letter.to_string()],
                },
                letter => vec![letter.to_string()],
            };
            match self.letters.get(self.at) {
                Some('?') => {
                    self.at += 1;
                    parts.push(String::new());
                }
                Some('*' | '+') => {
                    self.at += 1;
                    self.next_if('?');
                    parts = vec![ANY.to_string()];
                }
                Some('{') => {
                    while self.next()? != '}' {}
                    parts = vec![ANY.to_string()];
                }
                _ => {}
            }
            if words.len() * parts.len() > MOST_WORDS {
                return None;
            }
            words =
                words.iter().flat_map(|word| parts.iter().map(move |part| format!("{word}{part}"))).collect();
        }
        Some(words)
    }

    fn class(&mut self) -> Option<Vec<String>> {
        let mut inside = Vec::new();
        while let letter = self.next()?
            && (letter != ']' || inside.is_empty())
        {
            inside.push(letter);
        }
        let is_listed = inside.len() <= 6 && inside.iter().all(char::is_ascii_alphanumeric);
        Some(if is_listed { inside.iter().map(char::to_string).collect() } else { vec![ANY.to_string()] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_patterns_are_listed() {
        for (pattern, expected) in [
            ("^--version$", Some(vec!["--version"])),
            ("^--(get|list)$", Some(vec!["--get", "--list"])),
            ("^--show=(.*)$", Some(vec!["--show=\0"])),
            ("^-(?:\\?|-help)$", Some(vec!["-?", "--help"])),
            ("^-s([iad])$", Some(vec!["-si", "-sa", "-sd"])),
            ("^--x(?:=(a|b))?$", Some(vec!["--x=a", "--x=b", "--x"])),
            ("^-j(\\d*)$", Some(vec!["-j\0"])),
            ("^-D([^=:]+)[=:](.*)$", Some(vec!["-D\0\0\0"])),
            ("^-(", None),
            ("^-a(?=b)", None),
            ("\\", None),
        ] {
            let found = words(pattern);
            let expected: Option<Vec<String>> =
                expected.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(found, expected, "{pattern}");
        }
        assert_eq!(words("[abcdef][abcdef][abcdef]"), None);
    }
}
