//! `git+https://HOST/REPOSITORY#REF:PATH`, where `REF:` is optional.

use crate::error::FetchError;
use crate::hosts::HttpsUrl;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitUri {
    pub(crate) repository: HttpsUrl,
    pub(crate) reference: String,
    /// From the top of the repository.
    pub(crate) path: String,
}

impl GitUri {
    pub(crate) fn parse(uri: &str) -> Result<Self, FetchError> {
        let short = |text: &str| text.chars().take(200).collect();
        let wrong = |reason| FetchError::GitUri { uri: short(uri), reason };
        let url = uri.strip_prefix("git+").ok_or_else(|| wrong("it must begin with `git+https://`"))?;
        let (url, fragment) =
            url.split_once('#').ok_or_else(|| wrong("`#REF:PATH` must follow the repository"))?;
        let repository = HttpsUrl::parse(url).map_err(|error| FetchError::Url { url: short(url), error })?;
        let (reference, path) = fragment.split_once(':').unwrap_or(("HEAD", fragment));
        let decoded = |text| mcp_bash_uri::decode(text).map_err(|_| wrong("its escapes do not spell text"));
        let (reference, path) = (decoded(reference)?, decoded(path)?);
        let path = path.strip_prefix('/').unwrap_or(&path).to_owned();
        if path.is_empty() {
            return Err(wrong("a path must follow the `#`"));
        }
        if !is_reference(&reference) {
            return Err(wrong("what is before the `:` is not the name of a branch, a tag or a commit"));
        }
        let is_name = |name: &str| !matches!(name, "" | "." | "..");
        if path.contains(char::is_control) || !path.split('/').all(is_name) {
            return Err(wrong("its path must lead straight down from the top of the repository"));
        }
        Ok(Self { repository, reference, path })
    }
}

/// Nothing that begins like an option, or means more to git than a name.
fn is_reference(reference: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    let is_usual = |sign: char| !sign.is_control() && !" ~^:?*[\\+".contains(sign);
    !reference.starts_with('-')
        && !reference.ends_with('.')
        && !reference.contains("..")
        && !reference.contains("@{")
        && reference.len() <= 255
        && reference.chars().all(is_usual)
        && reference.split('/').all(is_part)
}
