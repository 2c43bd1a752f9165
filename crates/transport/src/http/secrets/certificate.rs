//! Client certificate (X.509): reads its names. TLS has verified it before, so nothing is decided here.

use crate::http::limits::identity_options::CertificateName;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_ID: u8 = 0x06;
const OCTETS: u8 = 0x04;
/// Context tags `[0]` and `[3]` of a certificate: its version and its extensions.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// Subject alternative names: context tags `[1]`, `[2]` and `[6]`.
const EMAIL: u8 = 0x81;
const DNS: u8 = 0x82;
const URI: u8 = 0x86;
/// String types: UTF-8, printable and IA5.
const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];

const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const UNIT: [u8; 3] = [0x55, 0x04, 0x0b];
const ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];

/// The names in a certificate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::http) struct Subject {
    common_names: Vec<String>,
    /// The organizational units.
    pub(in crate::http) units: Vec<String>,
    uris: Vec<String>,
    emails: Vec<String>,
    dns: Vec<String>,
}

impl Subject {
    pub(in crate::http) fn read(certificate: &[u8]) -> Option<Self> {
        let body = inside(inside(certificate, SEQUENCE)?, SEQUENCE)?;
        let mut parts = elements(body)?.into_iter().filter(|(kind, _)| *kind != VERSION);
        // Serial number, algorithm, issuer and validity.
        let (_, subject) = parts.nth(4)?;
        let mut found = Self::default();
        for (_, set) in elements(subject)?.into_iter().filter(|(kind, _)| *kind == SET) {
            for (_, pair) in elements(set)? {
                found.take_part(&elements(pair)?)?;
            }
        }
        let extensions = parts.find(|(kind, _)| *kind == EXTENSIONS);
        for (_, extension) in
            extensions.map_or(Some(Vec::new()), |(_, list)| elements(inside(list, SEQUENCE)?))?
        {
            let parts = elements(extension)?;
            if parts.first() == Some(&(OBJECT_ID, &ALTERNATIVE_NAMES[..])) {
                let (_, value) = parts.iter().find(|(kind, _)| *kind == OCTETS)?;
                found.take_alternatives(&elements(inside(value, SEQUENCE)?)?)?;
            }
        }
        Some(found)
    }

    /// The name of that kind, if there is exactly one. Two would be ambiguous.
    pub(in crate::http) fn name(&self, kind: CertificateName) -> Option<&str> {
        let names = match kind {
            CertificateName::CommonName => &self.common_names,
            CertificateName::Uri => &self.uris,
            CertificateName::Email => &self.emails,
            CertificateName::Dns => &self.dns,
        };
        match &names[..] {
            [name] => Some(name),
            _ => None,
        }
    }

    fn take_part(&mut self, parts: &[(u8, &[u8])]) -> Option<()> {
        let [(OBJECT_ID, name), (kind, value)] = parts else { return None };
        let names = match *name {
            name if name == COMMON_NAME => &mut self.common_names,
            name if name == UNIT => &mut self.units,
            _ => return Some(()),
        };
        if !TEXTS.contains(kind) {
            return None;
        }
        names.push(String::from_utf8(value.to_vec()).ok()?);
        Some(())
    }

    fn take_alternatives(&mut self, names: &[(u8, &[u8])]) -> Option<()> {
        for (kind, value) in names {
            let names = match *kind {
                EMAIL => &mut self.emails,
                DNS => &mut self.dns,
                URI => &mut self.uris,
                _ => continue,
            };
            names.push(String::from_utf8(value.to_vec()).ok()?);
        }
        Some(())
    }
}

/// The content of the first element, if it has that tag.
fn inside(bytes: &[u8], kind: u8) -> Option<&[u8]> {
    let (found, content, _) = element(bytes)?;
    (found == kind).then_some(content)
}

/// A sequence of elements.
fn elements(mut bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (kind, content, rest) = element(bytes)?;
        found.push((kind, content));
        bytes = rest;
    }
    Some(found)
}

/// Parses a DER element: its tag, its content, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[kind, first], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        // Lengths of more than four bytes are refused; no certificate is that long.
        let count = usize::from(first & 0x7f);
        let (digits, rest) = rest.split_at_checked(count).filter(|_| (1..=4).contains(&count))?;
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((kind, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    fn made() -> Vec<u8> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, "älice");
        parameters.distinguished_name.push(DnType::OrganizationName, "Acme");
        parameters.distinguished_name.push(DnType::OrganizationalUnitName, "ops");
        parameters.subject_alt_names = vec![
            SanType::DnsName("a.example".try_into().unwrap()),
            SanType::URI("spiffe://acme/alice".try_into().unwrap()),
            SanType::DnsName("b.example".try_into().unwrap()),
        ];
        let key = KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_names_of_a_certificate_are_read() {
        let subject = Subject::read(&made()).unwrap();
        assert_eq!(subject.name(CertificateName::CommonName), Some("älice"));
        assert_eq!(subject.name(CertificateName::Uri), Some("spiffe://acme/alice"));
        assert_eq!(subject.name(CertificateName::Dns), None, "there are two");
        assert_eq!(subject.name(CertificateName::Email), None);
        assert_eq!(subject.units, ["ops"]);
    }

    #[test]
    fn broken_certificates_are_no_reason_to_panic() {
        let whole = made();
        for end in 0..whole.len() {
            Subject::read(&whole[..end]);
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            Subject::read(&changed);
        }
        assert_eq!(Subject::read(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(Subject::read(&[0x30, 0x89]), None);
    }
}
