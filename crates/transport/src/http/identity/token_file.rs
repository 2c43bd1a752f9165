//! Token file: one line for each token, with the name and the rights of its caller.
//!
//! ```text
//! # name   hash of the token   what it may do
//! alice    sha256:9f86d0818…   tools=read_notes,search rate=60/min
//! bob      sha256:e3b0c4429…   read-only resources=notes
//! ```
//!
//! A token has 256 random bits, so it cannot be found from its hash, and a slow hash would protect nothing.

use mcp_bash_roles::{Rate, RateError};
use mcp_bash_server::{Identity, KnownBy, Rights};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;

/// The prefix of every token, by which people and secret scanners recognise it.
const PREFIX: &str = "mcpb_";

const RANDOM_BYTES: usize = 32;

/// One token.
#[derive(Debug, Clone)]
pub struct TokenLine {
    identity: Arc<Identity>,
    digest: [u8; 32],
    /// What the token allows.
    grant: Grant,
}

/// What a token allows.
#[derive(Debug, Clone, Default)]
pub struct Grant {
    pub tools: Option<NameList>,
    pub resources: Option<NameList>,
    pub prompts: Option<NameList>,
    /// Whether it allows only tools with `readOnlyHint`.
    pub read_only: bool,
    pub rate: Option<Rate>,
}

impl Grant {
    fn rights(&self) -> Option<Arc<Rights>> {
        let names = |list: &Option<NameList>| list.as_ref().map(|list| list.0.iter().cloned().collect());
        let lists = [&self.tools, &self.resources, &self.prompts];
        if lists.iter().all(|list| list.is_none()) && !self.read_only {
            return None;
        }
        let [tools, resources, prompts] = lists.map(names);
        let read_only = self.read_only;
        Some(Arc::new(Rights::of(mcp_bash_roles::Grant {
            tools,
            resources,
            prompts,
            read_only,
            hours: None,
        })))
    }

    /// Parses a word of a line, such as `tools=a,b`.
    fn take(&mut self, word: &str, at: usize) -> Result<(), TokenFileError> {
        let names = |list: &str| list.parse::<NameList>().map_err(|error| TokenFileError::Names(at, error));
        match word.split_once('=') {
            Some(("tools", list)) if self.tools.is_none() => self.tools = Some(names(list)?),
            Some(("resources", list)) if self.resources.is_none() => self.resources = Some(names(list)?),
            Some(("prompts", list)) if self.prompts.is_none() => self.prompts = Some(names(list)?),
            Some(("rate", text)) if self.rate.is_none() => {
                self.rate = Some(text.parse().map_err(|error| TokenFileError::Rate(at, error))?);
            }
            None if word == "read-only" && !self.read_only => self.read_only = true,
            _ => return Err(TokenFileError::Unknown(at, word.escape_debug().to_string())),
        }
        Ok(())
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, list) in
            [("tools", &self.tools), ("resources", &self.resources), ("prompts", &self.prompts)]
        {
            if let Some(list) = list {
                write!(formatter, " {name}={list}")?;
            }
        }
        if self.read_only {
            formatter.write_str(" read-only")?;
        }
        self.rate.map_or(Ok(()), |rate| write!(formatter, " rate={rate}"))
    }
}

/// Names of tools, resources or prompts, separated by commas. `*` and `all` stand for every one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameList(Arc<[String]>);

impl NameList {
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl std::str::FromStr for NameList {
    type Err = NameListError;

    fn from_str(list: &str) -> Result<Self, NameListError> {
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with('#')
                && !name.contains(|c: char| c.is_whitespace() || c.is_control())
        };
        if list.split(',').all(is_name) {
            return Ok(Self(list.split(',').map(str::to_owned).collect()));
        }
        Err(NameListError(list.escape_debug().to_string()))
    }
}

impl fmt::Display for NameList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join(","))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name a token; use letters, digits, `.`, `_`, `-` and `@`, 64 at most, with a letter or digit first"
)]
pub struct NameError(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no list of names; write them with commas between them and no spaces")]
pub struct NameListError(String);

/// An invalid line. It grants no access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenFileError {
    #[error("line {0}: a name and `sha256:…` are needed")]
    NoHash(usize),
    #[error("line {0}: {1}")]
    Name(usize, NameError),
    #[error("line {0}: the hash should be `sha256:` and 64 hexadecimal digits")]
    Hash(usize),
    #[error("line {0}: {1}")]
    Names(usize, NameListError),
    #[error("line {0}: {1}")]
    Rate(usize, RateError),
    #[error(
        "line {0}: `{1}` is not known; there are `tools=`, `resources=`, `prompts=`, `read-only` and `rate=`, each at most once"
    )]
    Unknown(usize, String),
    #[error("line {0}: `{1}` has a token already, further up")]
    SecondOfName(usize, Arc<str>),
    #[error("line {0}: the token is the same as that of `{1}`")]
    SameToken(usize, Arc<str>),
    #[error("it is not UTF-8 text")]
    NoText,
}

impl TokenLine {
    /// Generates a token. Also returns its text for the owner, which is stored nowhere.
    pub fn generate(name: &str, grant: Grant) -> Result<(Self, String), NewTokenError> {
        let name = parse_name(name)?;
        let mut random = [0; RANDOM_BYTES];
        let source = ring::default_provider().secure_random;
        source.fill(&mut random).map_err(|_| io::Error::other("the system has no random numbers"))?;
        let token = format!("{PREFIX}{}", hex(&random));
        Ok((Self::new(name, digest(token.as_bytes()), grant), token))
    }

    fn new(name: Arc<str>, digest: [u8; 32], grant: Grant) -> Self {
        let identity = Identity { rights: grant.rights(), ..Identity::new(name, KnownBy::Token) };
        Self { identity: Arc::new(identity), digest, grant }
    }

    pub fn name(&self) -> &Arc<str> {
        &self.identity.name
    }

    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    pub(super) fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    pub(super) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
pub enum NewTokenError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("the system has no randomness: {0}")]
    Random(#[from] io::Error),
}

impl fmt::Display for TokenLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} sha256:{}{}", self.name(), hex(&self.digest), self.grant)
    }
}

/// The content of a token file.
#[derive(Debug, Default)]
pub struct TokenText {
    pub tokens: Vec<TokenLine>,
    pub problems: Vec<TokenFileError>,
}

impl TokenText {
    /// Parses each line independently: an invalid one hides no other.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut text = Self::default();
        let Ok(lines) = std::str::from_utf8(bytes) else {
            text.problems.push(TokenFileError::NoText);
            return text;
        };
        for (at, line) in lines.lines().enumerate() {
            match parse_line(line, at + 1)
                .and_then(|token| token.map(|token| text.unique(token, at + 1)).transpose())
            {
                Ok(token) => text.tokens.extend(token),
                Err(problem) => text.problems.push(problem),
            }
        }
        text
    }

    fn unique(&self, token: TokenLine, at: usize) -> Result<TokenLine, TokenFileError> {
        if self.tokens.iter().any(|known| known.name() == token.name()) {
            return Err(TokenFileError::SecondOfName(at, Arc::clone(token.name())));
        }
        match self.tokens.iter().find(|known| known.digest == token.digest) {
            Some(known) => Err(TokenFileError::SameToken(at, Arc::clone(known.name()))),
            None => Ok(token),
        }
    }

    /// The text without the token of that name; `None` if there is no such token. All other lines are unchanged.
    pub fn without(text: &str, name: &str) -> Option<String> {
        let is_meant = |line: &str| {
            let line = line.trim_start();
            line.split_whitespace().next() == Some(name) && !line.starts_with('#')
        };
        let left: String = text.split_inclusive('\n').filter(|line| !is_meant(line)).collect();
        (left.len() != text.len()).then_some(left)
    }
}

fn parse_line(line: &str, at: usize) -> Result<Option<TokenLine>, TokenFileError> {
    let mut words = line.split_whitespace();
    let Some(name) = words.next().filter(|word| !word.starts_with('#')) else { return Ok(None) };
    let name = parse_name(name).map_err(|error| TokenFileError::Name(at, error))?;
    let hash = words.next().ok_or(TokenFileError::NoHash(at))?;
    let digest = hash.strip_prefix("sha256:").and_then(unhex).ok_or(TokenFileError::Hash(at))?;
    let mut grant = Grant::default();
    for word in words {
        grant.take(word, at)?;
    }
    Ok(Some(TokenLine::new(name, digest, grant)))
}

fn parse_name(name: &str) -> Result<Arc<str>, NameError> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte);
    let is_name = (1..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(is_letter);
    if is_name { Ok(name.into()) } else { Err(NameError(name.escape_debug().to_string())) }
}

/// The hash of a token in the file.
pub(super) fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| digit.try_into().ok())).collect();
    let bytes: Vec<u8> = digits?.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    (text.len() == 64).then(|| bytes.try_into().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn problems(text: &str) -> Vec<String> {
        TokenText::parse(text.as_bytes()).problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_token_is_written_as_it_is_read() {
        let names = |list: &str| Some(list.parse().unwrap());
        let grant = Grant {
            tools: names("a,b_*"),
            resources: names("notes,file:///a"),
            prompts: names("all"),
            read_only: true,
            rate: Some("60/min".parse().unwrap()),
        };
        let (line, token) = TokenLine::generate("alice@example.com", grant).unwrap();
        let allowed = "tools=a,b_* resources=notes,file:///a prompts=all read-only rate=60/min";
        assert!(line.to_string().ends_with(allowed), "{line}");
        let read = TokenText::parse(format!("# who\n\n  {line}  \n").as_bytes());
        assert_eq!((read.tokens[0].to_string(), read.problems.len()), (line.to_string(), 0));
        assert_eq!(*line.digest(), digest(token.as_bytes()));
        assert!(token.len() == 69 && !line.to_string().contains(&token));
        let (other, another) = TokenLine::generate("alice", Grant::default()).unwrap();
        assert!(token != another && other.identity().rights.is_none() && other.grant().rate.is_none());
    }

    #[test]
    fn an_invalid_line_accepts_no_token_and_hides_no_other() {
        let good = format!("good {HASH}");
        for (junk, said) in [
            ("x", "a name and `sha256:"),
            ("x sha256:12", "64 hexadecimal digits"),
            (&format!("x {}", HASH.replace("9f", "9g")), "64 hexadecimal digits"),
            (&format!("x {HASH}0"), "64 hexadecimal digits"),
            (&format!("x {}", HASH.replace("sha256", "md5")), "64 hexadecimal digits"),
            ("x plain-text-token", "64 hexadecimal digits"),
            (&format!("{HASH} x"), "cannot name a token"),
            (&format!("-x {HASH}"), "cannot name a token"),
            (&format!("x:y {HASH}"), "cannot name a token"),
            (&format!("x {HASH} tools="), "is no list of names"),
            (&format!("x {HASH} tools=a,,b"), "is no list of names"),
            (&format!("x {HASH} tools=a, b"), "is no list of names"),
            (&format!("x {HASH} tool=a"), "is not known"),
            (&format!("x {HASH} tools=a tools=b"), "is not known"),
            (&format!("x {HASH} rate=fast"), "is no rate"),
            (&format!("x {HASH} # a comment"), "is not known"),
            (&format!("good {}", HASH.replace("9f", "9e")), "has a token already"),
            (&format!("x {HASH}"), "is the same as that of `good`"),
        ] {
            let text = format!("{good}\n{junk}\n");
            let read = TokenText::parse(text.as_bytes());
            assert_eq!(read.tokens.len(), 1, "{junk}");
            let said_so = problems(&text);
            assert!(said_so.len() == 1 && said_so[0].starts_with("line 2: "), "{junk}: {said_so:?}");
            assert!(said_so[0].contains(said), "{junk}: {said_so:?}");
        }
        assert!(!problems(&format!("x\u{1b}[2J {HASH}"))[0].contains('\u{1b}'));
        assert_eq!(TokenText::parse(b"\xff\xfe").problems, [TokenFileError::NoText]);
    }

    #[test]
    fn one_token_is_taken_out_and_all_else_stays() {
        let text = format!("# alice left\r\nalice {HASH}\n\n  bob {HASH} tools=x\n#alice\nalice2 {HASH}");
        let without = TokenText::without(&text, "alice").unwrap();
        assert_eq!(without, format!("# alice left\r\n\n  bob {HASH} tools=x\n#alice\nalice2 {HASH}"));
        assert_eq!(TokenText::without(&text, "carol"), None);
        assert_eq!(TokenText::without(&text, "#"), None);
    }

    #[test]
    fn names_and_tools_cannot_forge_lines() {
        for name in ["", "a b", "a\nb", "#a", ".a", "ä", &"a".repeat(65)] {
            assert!(TokenLine::generate(name, Grant::default()).is_err(), "{name:?}");
        }
        for tools in ["", "a b", "a\nbob sha256:", "a,", ",", "\t"] {
            assert!(tools.parse::<NameList>().is_err(), "{tools:?}");
        }
    }
}
