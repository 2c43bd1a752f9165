//! Rights source: the current rights of principals, which may have changed since their requests arrived.

use super::identity::{Identity, Principal};
use super::rights::Rights;
use std::sync::{Arc, OnceLock};

/// Returns the current rights of an identity; `None` for all rights.
type RightsOf = Box<dyn Fn(&Identity) -> Option<Arc<Rights>> + Send + Sync>;

#[derive(Default)]
pub(crate) struct RightsSource(OnceLock<RightsOf>);

impl RightsSource {
    /// Sets the source, unless one is set already.
    pub(crate) fn set(&self, rights_of: impl Fn(&Identity) -> Option<Arc<Rights>> + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(rights_of));
    }

    /// The current rights of a principal.
    pub(crate) fn now(&self, principal: &Principal) -> Option<Arc<Rights>> {
        match self.0.get() {
            Some(rights_of) => rights_of(&principal.identity),
            None => principal.rights.clone(),
        }
    }
}
