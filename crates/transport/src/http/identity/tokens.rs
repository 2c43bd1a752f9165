//! Token authentication: callers present a token of the operator's file.

use super::token_file::{TokenFileError, TokenLine, TokenText, digest};
use super::{Identified, Identify, Unidentified, bearer};
use crate::http::identity::visitor::Visitor;
use crate::http::limits::rate::{Rate, Rates};
use crate::http::secrets::guarded_file::{Changes, GuardedFileError, Report, read_secret};
use http::{HeaderMap, HeaderValue};
use parking_lot::Mutex;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use subtle::ConstantTimeEq;

/// So many wrong tokens of one peer are answered at once.
const GUESSES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(10).unwrap();

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    #[error(transparent)]
    File(#[from] GuardedFileError),
    #[error("`{}`, {problem}", path.display())]
    Line { path: PathBuf, problem: TokenFileError },
    #[error("`{}` has no tokens, so that nobody could come in; `mcp-bash token new NAME --file {}` adds one", .0.display(), .0.display())]
    None(PathBuf),
}

pub(crate) struct Tokens {
    path: PathBuf,
    current: Mutex<Current>,
    /// Wrong tokens by peer. Right ones are never slowed down, whoever guesses beside them.
    guesses: Rates,
    report: Report,
}

struct Current {
    tokens: Arc<[TokenLine]>,
    changes: Changes,
}

impl Tokens {
    /// `report` is told when the file cannot be read any more.
    pub(super) fn open(path: &Path, report: Report) -> Result<Self, TokensError> {
        let changes = Changes::of(&[path]);
        let text = TokenText::parse(&read_secret(path)?);
        if let Some(problem) = text.problems.into_iter().next() {
            return Err(TokensError::Line { path: path.to_owned(), problem });
        }
        if text.tokens.is_empty() {
            return Err(TokensError::None(path.to_owned()));
        }
        let current = Mutex::new(Current { tokens: text.tokens.into(), changes });
        Ok(Self { path: path.to_owned(), current, guesses: Rates::default(), report })
    }

    /// The tokens as the file has them now. What cannot be read lets nobody in: a token that was taken out must not live
    /// on because of a mistake elsewhere.
    fn tokens(&self, now: Instant) -> Arc<[TokenLine]> {
        let mut current = self.current.lock();
        if current.changes.are_there(now) {
            let Current { tokens, changes } = &mut *current;
            *tokens = self.read_again(changes);
        }
        Arc::clone(&current.tokens)
    }

    fn read_again(&self, changes: &mut Changes) -> Arc<[TokenLine]> {
        match read_secret(&self.path) {
            Ok(bytes) => {
                let text = TokenText::parse(&bytes);
                if text.problems.is_empty() && text.tokens.is_empty() {
                    let path = self.path.display();
                    (self.report)(format!("no token is accepted any more: `{path}` holds none"));
                }
                for problem in text.problems {
                    (self.report)(format!(
                        "`{}`, {problem}; that line grants no access",
                        self.path.display()
                    ));
                }
                text.tokens.into()
            }
            Err(error) => {
                (self.report)(format!("no token is accepted any more: {error}"));
                if error.is_shortage() {
                    changes.look_again();
                }
                Arc::new([])
            }
        }
    }

    fn identify_at(
        &self,
        headers: &HeaderMap,
        visitor: &Visitor,
        now: Instant,
    ) -> Result<Identified, Unidentified> {
        let shown = match bearer::shown(headers) {
            bearer::Shown::Token(token) => digest(token),
            bearer::Shown::Nothing => {
                return Err(Unidentified { challenge: bearer::wanted(), throttled: false });
            }
            bearer::Shown::Unreadable => return Err(self.refuse(bearer::unreadable(), visitor)),
        };
        let tokens = self.tokens(now);
        // All are compared, and each to its end, so that the time tells nothing.
        let mut found = None;
        for token in &*tokens {
            if token.digest().ct_eq(&shown).into() {
                found = Some(token);
            }
        }
        match found {
            Some(token) => {
                Ok(Identified { identity: Arc::clone(token.identity()), rate: token.grant().rate })
            }
            None => Err(self.refuse(bearer::wrong(), visitor)),
        }
    }

    fn refuse(&self, challenge: HeaderValue, visitor: &Visitor) -> Unidentified {
        let throttled = self.guesses.allow(&visitor.name, Rate::per_minute(GUESSES_PER_MINUTE)).is_err();
        Unidentified { challenge, throttled }
    }
}

impl Identify for Tokens {
    async fn identify(&self, headers: &HeaderMap, visitor: &Visitor) -> Result<Identified, Unidentified> {
        self.identify_at(headers, visitor, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::super::token_file::Grant;
    use super::*;
    use crate::http::listen::Peer;
    use http::header::AUTHORIZATION;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    struct File {
        folder: tempfile::TempDir,
        reported: Arc<Mutex<Vec<String>>>,
    }

    impl File {
        fn new(text: &str) -> Self {
            let file = Self { folder: tempfile::tempdir().unwrap(), reported: Arc::default() };
            file.write(text);
            file
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("tokens")
        }

        fn write(&self, text: &str) {
            fs::write(self.path(), text).unwrap();
            self.mode(0o600);
        }

        fn mode(&self, mode: u32) {
            fs::set_permissions(self.path(), Permissions::from_mode(mode)).unwrap();
        }

        fn open(&self) -> Result<Tokens, TokensError> {
            let reported = Arc::clone(&self.reported);
            Tokens::open(&self.path(), Box::new(move |words| reported.lock().push(words)))
        }
    }

    fn peer(address: &str) -> Visitor {
        Visitor::new(&Peer::Tcp(address.parse().unwrap()), false)
    }

    fn bearer(token: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse().unwrap())])
    }

    fn two() -> ((TokenLine, String), (TokenLine, String)) {
        let (tools, rate) = ("read,write".parse().ok(), "60/min".parse().ok());
        let alice = TokenLine::generate("alice", Grant { tools, rate, ..Grant::default() }).unwrap();
        (alice, TokenLine::generate("bob", Grant::default()).unwrap())
    }

    #[test]
    fn a_token_identifies_its_caller_and_permissions() {
        let ((alice, first), (bob, second)) = two();
        let tokens = File::new(&format!("{alice}\n{bob}\n")).open().unwrap();
        let who = |token: &str| tokens.identify_at(&bearer(token), &peer("10.0.0.1:1"), Instant::now());
        let alice = who(&first).unwrap();
        assert_eq!(&*alice.identity.name, "alice");
        let tools = alice.identity.rights.as_ref().unwrap().tools.clone().unwrap();
        assert!(tools.hold("read") && tools.hold("write") && !tools.hold("delete"));
        assert_eq!(alice.rate.unwrap().to_string(), "60/min");
        let bob_is = who(&second).unwrap();
        assert!(&*bob_is.identity.name == "bob" && bob_is.identity.rights.is_none() && bob_is.rate.is_none());

        for wrong in
            [&first[..first.len() - 1], &format!("{first}0"), &first.to_uppercase(), "x", &hash_of(&bob)]
        {
            let refused = who(wrong).unwrap_err();
            assert!(refused.challenge.to_str().unwrap().starts_with("Bearer realm="), "{refused:?}");
            assert!(refused.challenge.to_str().unwrap().contains(r#"error="invalid_token""#), "{refused:?}");
        }
        let nothing = tokens.identify_at(&HeaderMap::new(), &peer("10.0.0.1:1"), Instant::now()).unwrap_err();
        assert_eq!(nothing.challenge, r#"Bearer realm="mcp-bash""#);
        let mut twice = bearer(&first);
        twice.append(AUTHORIZATION, twice[AUTHORIZATION].clone());
        assert!(tokens.identify_at(&twice, &peer("10.0.0.1:1"), Instant::now()).is_err());
    }

    fn hash_of(line: &TokenLine) -> String {
        line.to_string().split_once("sha256:").unwrap().1.to_owned()
    }

    #[test]
    fn guessing_slows_down_only_the_guesser() {
        let ((alice, token), _) = two();
        let tokens = File::new(&alice.to_string()).open().unwrap();
        let guess = |address: &str| {
            tokens.identify_at(&bearer("wrong"), &peer(address), Instant::now()).unwrap_err().throttled
        };
        let slowed = (0..20).filter(|_| guess("10.0.0.1:1")).count();
        assert_eq!(slowed, 10);
        assert!(guess("10.0.0.1:2") && !guess("10.0.0.2:1"));
        // Who has a token is let in, also from there, and who shows none has guessed nothing.
        assert!(tokens.identify_at(&bearer(&token), &peer("10.0.0.1:1"), Instant::now()).is_ok());
        assert!(
            !tokens
                .identify_at(&HeaderMap::new(), &peer("10.0.0.1:1"), Instant::now())
                .unwrap_err()
                .throttled
        );
    }

    #[test]
    fn the_file_is_read_again_when_it_changes() {
        let ((alice, first), (bob, second)) = two();
        let file = File::new(&alice.to_string());
        let (tokens, start) = (file.open().unwrap(), Instant::now());
        let names = |seconds| {
            let who = |token: &str| {
                let now = start + Duration::from_secs(seconds);
                tokens
                    .identify_at(&bearer(token), &peer("10.0.0.1:1"), now)
                    .map(|who| who.identity.name.to_string())
                    .ok()
            };
            [who(&first), who(&second)].into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(names(0), ["alice"]);
        file.write(&format!("{alice}\njunk\n{bob}\n"));
        assert_eq!(names(2), ["alice", "bob"]);
        assert!(file.reported.lock()[0].contains("line 2"));
        file.write(&bob.to_string());
        assert_eq!(names(4), ["bob"]);
        // Others could have written to it, or there is none.
        file.mode(0o666);
        assert_eq!(names(6), Vec::<String>::new());
        assert!(file.reported.lock()[1].contains("chmod 600"));
        file.mode(0o600);
        assert_eq!(names(8), ["bob"]);
        fs::remove_file(file.path()).unwrap();
        assert_eq!(names(10), Vec::<String>::new());
        assert_eq!(file.reported.lock().len(), 3);
    }

    #[test]
    fn a_file_that_would_let_in_the_wrong_people_is_refused_at_the_start() {
        let ((alice, _), _) = two();
        let file = File::new(&alice.to_string());
        for mode in [0o644, 0o622, 0o660] {
            file.mode(mode);
            assert!(
                matches!(file.open(), Err(TokensError::File(GuardedFileError::TooOpen { .. }))),
                "{mode:o}"
            );
        }
        file.write(&format!("{alice}\nbob hunter2\n"));
        let refused = file.open().err().unwrap().to_string();
        assert!(refused.contains("tokens`, line 2: the hash should be"), "{refused}");
        assert!(!refused.contains("hunter2"), "what may be a secret is not repeated");
        file.write("# nobody\n");
        assert!(matches!(file.open(), Err(TokensError::None(_))));
        fs::remove_file(file.path()).unwrap();
        assert!(matches!(file.open(), Err(TokensError::File(GuardedFileError::Unreadable { .. }))));
    }
}
