//! Roles of a file, and what a caller has of them.

use crate::grant::Grant;
use crate::rate::Rate;
use mcp_bash_settings::AllowedNames;
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// One bit each in a set of roles.
pub(crate) const MOST_ROLES: usize = 64;

#[derive(Debug)]
pub struct Role {
    pub name: Arc<str>,
    pub grant: Arc<Grant>,
    /// The request rate of each of its callers.
    pub rate: Option<Rate>,
    /// How many calls of one caller run at a time.
    pub concurrency: Option<usize>,
    pub given: Given,
}

/// To whom a role is given.
#[derive(Debug, Default)]
pub struct Given {
    pub tokens: AllowedNames,
    pub groups: AllowedNames,
    pub scopes: AllowedNames,
    pub certificates: AllowedNames,
    /// Names of callers, however they are known.
    pub callers: AllowedNames,
}

/// What is known of a caller.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub name: &'a str,
    /// The name of its token in the operator's file.
    pub token: Option<&'a str>,
    /// The name in its client certificate.
    pub certificate: Option<&'a str>,
    pub groups: &'a [Box<str>],
    pub scopes: &'a [Box<str>],
}

impl Given {
    pub(crate) fn is_nobody(&self) -> bool {
        let Self { tokens, groups, scopes, certificates, callers } = self;
        [tokens, groups, scopes, certificates, callers].into_iter().all(AllowedNames::is_empty)
    }

    fn is_to(&self, subject: &Subject<'_>) -> bool {
        self.callers.hold(subject.name)
            || subject.token.is_some_and(|token| self.tokens.hold(token))
            || subject.certificate.is_some_and(|certificate| self.certificates.hold(certificate))
            || subject.groups.iter().any(|group| self.groups.hold(group))
            || subject.scopes.iter().any(|scope| self.scopes.hold(scope))
    }
}

/// What a caller has by all of its roles together.
#[derive(Debug)]
pub struct Granted {
    /// The names of the roles.
    pub roles: Vec<Arc<str>>,
    /// One of these has to allow what the caller does.
    pub grants: Vec<Arc<Grant>>,
    /// The highest rate of its roles, and of equal ones that with the longest period; none if one of them has no limit.
    pub rate: Option<Rate>,
    /// The highest number of concurrent calls of its roles; none if one of them has no limit.
    pub concurrency: Option<usize>,
}

#[derive(Debug)]
pub struct Roles {
    all: Vec<Role>,
    /// The role of callers that have no other.
    default: Option<usize>,
    /// What sets of roles grant, since most callers have one of a few.
    granted: Mutex<HashMap<u64, Arc<Granted>>>,
}

/// Sets of roles that are remembered.
const MOST_SETS: usize = 1000;

impl Roles {
    pub(crate) fn new(roles: Vec<Role>, default: Option<usize>) -> Self {
        Self { all: roles, default, granted: Mutex::default() }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Role> {
        self.all.iter()
    }

    /// The role of callers that have no other.
    pub fn default_role(&self) -> Option<&Role> {
        self.default.map(|place| &self.all[place])
    }

    /// What a caller may do.
    pub fn of(&self, subject: &Subject<'_>) -> Arc<Granted> {
        let mut set = 0_u64;
        for (place, role) in self.all.iter().enumerate() {
            set |= u64::from(role.given.is_to(subject)) << place;
        }
        if set == 0 {
            set = self.default.map_or(0, |place| 1 << place);
        }
        let mut granted = self.granted.lock();
        if let Some(known) = granted.get(&set) {
            return Arc::clone(known);
        }
        if granted.len() >= MOST_SETS {
            granted.clear();
        }
        let new = Arc::new(self.grant(set));
        granted.insert(set, Arc::clone(&new));
        new
    }

    fn grant(&self, set: u64) -> Granted {
        let has = |place: &usize| set >> place & 1 == 1;
        let roles: Vec<&Role> = (0..self.all.len()).filter(has).map(|place| &self.all[place]).collect();
        // An empty list has no limit, and grants nothing to be limited.
        let rates: Option<Vec<Rate>> = roles.iter().map(|role| role.rate).collect();
        let concurrencies: Option<Vec<usize>> = roles.iter().map(|role| role.concurrency).collect();
        Granted {
            roles: roles.iter().map(|role| Arc::clone(&role.name)).collect(),
            grants: roles.iter().map(|role| Arc::clone(&role.grant)).collect(),
            rate: rates
                .and_then(|rates| rates.into_iter().min_by_key(|rate| (rate.cost(), Reverse(rate.credit())))),
            concurrency: concurrencies.and_then(|most| most.into_iter().max()),
        }
    }
}

#[cfg(test)]
mod tests;
