//! Rights source: what principals may do now, which may have changed since their requests arrived.

use super::identity::{Identity, Principal};
use super::rights::Rights;
use std::sync::{Arc, OnceLock};

/// Knows what an identity may do; none for everything.
type RightsOf = Box<dyn Fn(&Identity) -> Option<Arc<Rights>> + Send + Sync>;

#[derive(Default)]
pub(crate) struct RightsSource(OnceLock<RightsOf>);

impl RightsSource {
    /// Sets what knows the rights of an identity at any time, unless there is something already.
    pub(crate) fn set(&self, rights_of: impl Fn(&Identity) -> Option<Arc<Rights>> + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(rights_of));
    }

    /// The rights of a principal now.
    pub(crate) fn now(&self, principal: &Principal) -> Option<Arc<Rights>> {
        match self.0.get() {
            Some(rights_of) => rights_of(&principal.identity),
            None => principal.rights.clone(),
        }
    }
}
