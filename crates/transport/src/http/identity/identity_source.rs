//! Identity source: which way of identifying callers this server uses. A new way is a file beside this one that implements
//! [`Identify`], and a variant here.

use super::anonymous::Anonymous;
use super::tokens::{Tokens, TokensError};
use super::{Identified, Identify, Unidentified};
use crate::http::identity::visitor::Visitor;
use crate::http::secrets::guarded_file::Report;
use http::HeaderMap;
use std::path::Path;

/// An enum rather than a trait object, so that no request allocates a future.
pub(crate) enum IdentitySource {
    Anonymous(Anonymous),
    Tokens(Box<Tokens>),
}

impl IdentitySource {
    /// By the tokens of a file, if the operator has one; otherwise by address. `report` receives what is wrong with the
    /// file later.
    pub(crate) fn open(tokens: Option<&Path>, report: impl FnOnce() -> Report) -> Result<Self, TokensError> {
        match tokens {
            Some(file) => Ok(Self::Tokens(Box::new(Tokens::open(file, report())?))),
            None => Ok(Self::Anonymous(Anonymous)),
        }
    }

    /// Who makes the request with these headers, over a connection of that visitor.
    pub(crate) async fn identify(
        &self,
        headers: &HeaderMap,
        visitor: &Visitor,
    ) -> Result<Identified, Unidentified> {
        match self {
            Self::Anonymous(source) => source.identify(headers, visitor).await,
            Self::Tokens(source) => source.identify(headers, visitor).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::token_file::Grant;
    use super::super::token_file::TokenLine;
    use super::*;
    use crate::http::listen::Peer;
    use http::header::AUTHORIZATION;
    use std::os::unix::fs::PermissionsExt;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// What is known at the first poll: a source that knows its callers waits for nothing.
    fn at_once(source: &IdentitySource, headers: &HeaderMap) -> Result<Identified, Unidentified> {
        let visitor = Visitor::new(&Peer::Tcp("10.0.0.1:1".parse().unwrap()), false);
        let mut identified = pin!(source.identify(headers, &visitor));
        match identified.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(identified) => identified,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn local_sources_answer_at_once() {
        let nothing = HeaderMap::new();
        let by_address = IdentitySource::open(None, || panic!("nothing to report")).unwrap();
        assert_eq!(&*at_once(&by_address, &nothing).unwrap().identity.name, "address 10.0.0.1");

        let (line, token) = TokenLine::generate("alice", Grant::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        std::fs::write(&file, line.to_string()).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let by_token = IdentitySource::open(Some(&file), || Box::new(|words| panic!("{words}"))).unwrap();
        let bearer =
            |token: &str| HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse().unwrap())]);
        assert_eq!(&*at_once(&by_token, &bearer(&token)).unwrap().identity.name, "alice");
        assert!(at_once(&by_token, &bearer("wrong")).is_err() && at_once(&by_token, &nothing).is_err());
    }
}
