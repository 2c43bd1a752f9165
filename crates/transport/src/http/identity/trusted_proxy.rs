//! Trusted proxy: a proxy identifies the caller and names it in a header. The proxy proves itself by the user of its process at
//! a Unix socket, by its client certificate, or by a signature, but never by its address.

use super::caller_name::{caller_name, groups};
use super::visitor::Visitor;
use super::{Identified, Unidentified};
use crate::http::limits::identity_options::ProxyOptions;
use crate::http::secrets::guarded_file::{Changes, GuardedFileError, Report, read_secret};
use http::{HeaderMap, HeaderName, Method, Uri};
use mcp_bash_server::{Identity, KnownBy};
use parking_lot::Mutex;
use ring::hmac;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The header with the proxy's signature of a request: `t=SECONDS,v1=HEX`.
const SIGNATURE: HeaderName = HeaderName::from_static("mcp-proxy-signature");

/// How far the time of a signature may differ from ours, in seconds.
const WINDOW: u64 = 60;

/// The minimum length of a key, in bytes.
const LEAST_KEY_BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    #[error(
        "`{0}` is no name of a header; `MCPBASH_HTTP_PROXY_HEADER` and `MCPBASH_HTTP_PROXY_GROUPS_HEADER` name one each"
    )]
    Header(String),
    #[error(
        "the proxy could not be told from anyone who sends the header `{0}`; set one of `MCPBASH_HTTP_PROXY_USERS` (of a Unix \
         socket), `MCPBASH_HTTP_PROXY_CERTIFICATES` (with `--client-ca`) and `MCPBASH_HTTP_PROXY_KEY`"
    )]
    NoProof(String),
    #[error("`{}` is too short for a key; it should have at least {LEAST_KEY_BYTES} bytes, such as those of `openssl rand -hex 32`", .0.display())]
    ShortKey(PathBuf),
    #[error(transparent)]
    Key(#[from] GuardedFileError),
}

pub(super) struct TrustedProxy {
    name: HeaderName,
    groups: Option<HeaderName>,
    users: Vec<u32>,
    certificates: Vec<String>,
    key: Option<Key>,
}

/// The key of the signatures, read again when its file changes.
struct Key {
    path: PathBuf,
    /// `None` while the file cannot be read: then no signature is accepted.
    current: Mutex<(Option<hmac::Key>, Changes)>,
    report: Report,
}

/// The request head, by which the caller is identified.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
}

impl TrustedProxy {
    pub(super) fn open(options: &ProxyOptions, report: Report) -> Result<Self, ProxyError> {
        let header =
            |name: &String| name.parse().map_err(|_| ProxyError::Header(name.escape_debug().to_string()));
        if options.users.is_empty() && options.certificates.is_empty() && options.key.is_none() {
            return Err(ProxyError::NoProof(options.name_header.clone()));
        }
        Ok(Self {
            name: header(&options.name_header)?,
            groups: options.groups_header.as_ref().map(header).transpose()?,
            users: options.users.clone(),
            certificates: options.certificates.clone(),
            key: options.key.as_deref().map(|path| Key::open(path, report)).transpose()?,
        })
    }

    /// The caller that the proxy names. `None` if the request neither comes from the proxy nor claims to.
    pub(super) fn identify(
        &self,
        head: Head<'_>,
        visitor: &Visitor,
    ) -> Option<Result<Identified, Unidentified>> {
        let headers = head.headers;
        let is_claimed = headers.contains_key(&self.name)
            || headers.contains_key(SIGNATURE)
            || self.groups.as_ref().is_some_and(|groups| headers.contains_key(groups));
        let is_proxy = visitor.uid.is_some_and(|uid| self.users.contains(&uid))
            || visitor.certificate_name().is_some_and(|name| self.certificates.iter().any(|own| own == name));
        if !is_proxy && !is_claimed {
            return None;
        }
        Some(self.named(head, is_proxy))
    }

    fn named(&self, head: Head<'_>, is_proxy: bool) -> Result<Identified, Unidentified> {
        let (name, groups_text) = (only(head.headers, &self.name)?, self.groups_text(head.headers)?);
        if !is_proxy {
            let is_signed = self.key.as_ref().is_some_and(|key| key.has_signed(head, name, groups_text));
            if !is_signed {
                return Err(Unidentified::Forbidden(
                    "Forbidden: only the proxy of this server may say in a header who the caller is",
                ));
            }
        }
        let unnamed = "Forbidden: the proxy does not say who the caller is";
        let name = caller_name("proxy", name).ok_or(Unidentified::Forbidden(unnamed))?;
        let groups = groups(groups_text.split(',').map(str::trim));
        let identity = Identity { groups, ..Identity::new(name, KnownBy::Proxy) };
        Ok(Identified { identity: Arc::new(identity), rate: None })
    }

    fn groups_text<'a>(&self, headers: &'a HeaderMap) -> Result<&'a str, Unidentified> {
        self.groups.as_ref().map_or(Ok(""), |groups| only(headers, groups))
    }
}

/// The value of a header, empty if it is missing. Repeated headers are refused: the proxy could have read the other one.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<&'a str, Unidentified> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok("") };
    let text = std::str::from_utf8(value.as_bytes()).ok().filter(|_| values.next().is_none());
    text.ok_or(Unidentified::Forbidden("Forbidden: a header of the proxy comes twice, or is not UTF-8"))
}

impl Key {
    fn open(path: &Path, report: Report) -> Result<Self, ProxyError> {
        let changes = Changes::of(&[path]);
        let current = Mutex::new((Some(read_key(path)?), changes));
        Ok(Self { path: path.to_owned(), current, report })
    }

    fn current(&self) -> Option<hmac::Key> {
        let mut current = self.current.lock();
        if current.1.detected(Instant::now()) {
            current.0 = match read_key(&self.path) {
                Ok(key) => Some(key),
                Err(error) => {
                    (self.report)(format!("no signature of the proxy is accepted any more: {error}"));
                    current.1.invalidate();
                    None
                }
            };
        }
        current.0.clone()
    }

    fn has_signed(&self, head: Head<'_>, name: &str, groups: &str) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let signature = only(head.headers, &SIGNATURE).ok().and_then(Signature::parse);
        let signature = signature.filter(|signature| now.abs_diff(signature.time) <= WINDOW);
        let (Some(signature), Some(key)) = (signature, self.current()) else { return false };
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let signed = format!("v1\n{}\n{}\n{path}\n{name}\n{groups}", signature.time, head.method);
        hmac::verify(&key, signed.as_bytes(), &signature.bytes).is_ok()
    }
}

fn read_key(path: &Path) -> Result<hmac::Key, ProxyError> {
    let bytes = read_secret(path)?;
    let key = bytes.trim_ascii();
    if key.len() < LEAST_KEY_BYTES {
        return Err(ProxyError::ShortKey(path.to_owned()));
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, key))
}

struct Signature {
    time: u64,
    bytes: Vec<u8>,
}

impl Signature {
    fn parse(text: &str) -> Option<Self> {
        let (time, digits) = text.strip_prefix("t=")?.split_once(",v1=")?;
        let is_hex = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        let bytes = is_hex.then(|| (0..64).step_by(2).map(byte).collect::<Option<Vec<u8>>>()).flatten()?;
        let is_number = time.bytes().all(|digit| digit.is_ascii_digit());
        Some(Self { time: is_number.then(|| time.parse().ok()).flatten()?, bytes })
    }
}

#[cfg(test)]
mod tests;
