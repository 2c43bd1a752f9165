//! Semantic versions: clients and the registry sort packages by them.

use std::cmp::Ordering;
use std::fmt;

/// A version as <https://semver.org> defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    /// The identifiers of a pre-release; a release has none.
    pre_release: Vec<String>,
    text: String,
}

impl Version {
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
        let (plain, pre_release) =
            rest.split_once('-').map_or((rest, None), |(plain, pre)| (plain, Some(pre)));
        let mut numbers = [0; 3];
        let mut parts = plain.split('.');
        for number in &mut numbers {
            *number = numeric(parts.next()?)?;
        }
        let identifiers = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        let pre_release = pre_release.map(identifiers).unwrap_or_default();
        let build = build.map(identifiers).unwrap_or_default();
        let is_identifier =
            |part: &String| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let is_number = |part: &String| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_fit = parts.next().is_none()
            && pre_release.iter().chain(&build).all(is_identifier)
            && pre_release.iter().all(|part| !is_number(part) || numeric(part).is_some());
        is_fit.then(|| Self { numbers, pre_release, text: text.to_owned() })
    }
}

/// A number without leading zeros.
fn numeric(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.precedence(other))
    }
}

impl Version {
    pub fn is_pre_release(&self) -> bool {
        !self.pre_release.is_empty()
    }

    /// Which of two versions is newer; the build after `+` does not count.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let releases = self.numbers.cmp(&other.numbers);
        releases.then_with(|| match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let (own, their) = (&self.pre_release, &other.pre_release);
                let pairs = own.iter().zip(their).map(|(one, other)| compare_identifiers(one, other));
                let first = pairs.into_iter().find(|order| order.is_ne());
                first.unwrap_or_else(|| own.len().cmp(&their.len()))
            }
        })
    }
}

fn compare_identifiers(one: &str, other: &str) -> Ordering {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => one.cmp(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semantic_versions_are_read_and_others_are_not() {
        for right in
            ["0.0.0", "1.2.3", "10.20.30", "1.0.0-alpha.1", "1.0.0-0a", "1.0.0+build.007", "1.0.0-a-b+c"]
        {
            assert_eq!(Version::parse(right).expect(right).to_string(), right);
        }
        for wrong in [
            "",
            "1",
            "1.2",
            "v1.2.3",
            "1.2.3.4",
            "01.2.3",
            "1.2.x",
            "1.2.3-",
            "1.2.3-01",
            "1.2.3+",
            "1.2.3-ä",
            "1.2.3-a..b",
            "1.2.3-$(id)",
            "latest",
            "^1.2.3",
            "1.2.3 ",
            "99999999999999999999.0.0",
        ] {
            assert_eq!(Version::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn versions_are_ordered_as_the_standard_says() {
        let order = [
            "0.9.10",
            "1.0.0-1",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.10.0",
            "2.0.0-rc-1.0",
        ];
        for pair in order.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(|text| Version::parse(text).unwrap());
            assert!(one < other, "{pair:?}");
        }
        let [one, other] = ["1.0.0+a", "1.0.0+b"].map(|text| Version::parse(text).unwrap());
        assert_eq!(one.precedence(&other), Ordering::Equal);
    }
}
