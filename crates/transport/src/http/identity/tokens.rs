//! Token authentication: callers present a token from the operator's token file.

use super::Identified;
use super::token_file::{TokenFileError, TokenLine, TokenText, digest};
use crate::http::secrets::guarded_file::{Changes, GuardedFileError, Report, read_secret};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use subtle::ConstantTimeEq;

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    #[error(transparent)]
    File(#[from] GuardedFileError),
    #[error("`{}`, {problem}", path.display())]
    Line { path: PathBuf, problem: TokenFileError },
    #[error("`{}` has no tokens, so no client could authenticate; `mcp-bash token new NAME --file {}` adds one", .0.display(), .0.display())]
    None(PathBuf),
}

pub(crate) struct Tokens {
    path: PathBuf,
    current: Mutex<Current>,
    report: Report,
}

struct Current {
    tokens: Arc<[TokenLine]>,
    changes: Changes,
}

impl Tokens {
    /// `report` receives later problems with the file.
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
        Ok(Self { path: path.to_owned(), current, report })
    }

    /// The current tokens of the file. Unreadable files and invalid lines grant no access: a removed token must not stay valid
    /// because of a mistake elsewhere.
    fn tokens(&self, now: Instant) -> Arc<[TokenLine]> {
        let mut current = self.current.lock();
        if current.changes.detected(now) {
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
                    changes.invalidate();
                }
                Arc::new([])
            }
        }
    }

    /// The caller of the token.
    pub(super) fn find(&self, token: &[u8], now: Instant) -> Option<Identified> {
        let (shown, tokens) = (digest(token), self.tokens(now));
        // All tokens are compared, each in constant time, so that timing reveals nothing.
        let mut found = None;
        for token in &*tokens {
            if token.digest().ct_eq(&shown).into() {
                found = Some(token);
            }
        }
        found.map(|token| Identified { identity: Arc::clone(token.identity()), rate: token.grant().rate })
    }
}

#[cfg(test)]
mod tests {
    use super::super::token_file::Grant;
    use super::*;
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

    fn two() -> ((TokenLine, String), (TokenLine, String)) {
        let (tools, rate) = ("read,write".parse().ok(), "60/min".parse().ok());
        let alice = TokenLine::generate("alice", Grant { tools, rate, ..Grant::default() }).unwrap();
        (alice, TokenLine::generate("bob", Grant::default()).unwrap())
    }

    #[test]
    fn a_token_identifies_its_caller_and_permissions() {
        let ((alice, first), (bob, second)) = two();
        let tokens = File::new(&format!("{alice}\n{bob}\n")).open().unwrap();
        let who = |token: &str| tokens.find(token.as_bytes(), Instant::now());
        let alice = who(&first).unwrap();
        assert_eq!(&*alice.identity.name, "alice");
        assert!(alice.identity.rights.is_some());
        assert_eq!(alice.rate.unwrap().to_string(), "60/min");
        let bob_is = who(&second).unwrap();
        assert!(&*bob_is.identity.name == "bob" && bob_is.identity.rights.is_none() && bob_is.rate.is_none());

        for wrong in
            [&first[..first.len() - 1], &format!("{first}0"), &first.to_uppercase(), "x", &hash_of(&bob)]
        {
            assert!(who(wrong).is_none(), "{wrong}");
        }
    }

    fn hash_of(line: &TokenLine) -> String {
        line.to_string().split_once("sha256:").unwrap().1.to_owned()
    }

    #[test]
    fn the_file_is_read_again_when_it_changes() {
        let ((alice, first), (bob, second)) = two();
        let file = File::new(&alice.to_string());
        let (tokens, start) = (file.open().unwrap(), Instant::now());
        let names = |seconds| {
            let who = |token: &str| {
                let now = start + Duration::from_secs(seconds);
                tokens.find(token.as_bytes(), now).map(|who| who.identity.name.to_string())
            };
            [who(&first), who(&second)].into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(names(0), ["alice"]);
        file.write(&format!("{alice}\njunk\n{bob}\n"));
        assert_eq!(names(2), ["alice", "bob"]);
        assert!(file.reported.lock()[0].contains("line 2"));
        file.write(&bob.to_string());
        assert_eq!(names(4), ["bob"]);
        // Other users could have written to the file, or it is missing.
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
