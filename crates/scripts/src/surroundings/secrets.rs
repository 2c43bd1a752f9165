//! Secrets of scripts: finds each in its sources, and gives it to the script that needs it. No other script receives the
//! variables that hold secrets.

use crate::running::error::ScriptError;
use crate::surroundings::Surroundings;
use crate::surroundings::secret_command::Commands;
use mcp_bash_project::Paths;
use mcp_bash_runner::Variables;
use mcp_bash_secrets::{
    Author, CommandFault, Given, Need, Needs, Places, Secret, SecretError, Source, Sources, Store,
};
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// What is known about secrets while this process runs.
#[derive(Default)]
pub(crate) struct Secrets {
    hidden: Mutex<Arc<HiddenVariables>>,
    commands: Commands,
}

/// The variables of our own environment that hold secrets, or that lead to them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HiddenVariables(BTreeSet<OsString>);

impl HiddenVariables {
    pub(crate) fn contains(&self, name: &OsStr) -> bool {
        self.0.contains(name)
    }
}

impl Secrets {
    pub(crate) fn hidden(&self) -> Arc<HiddenVariables> {
        Arc::clone(&self.hidden.lock())
    }
}

/// A secret, and its source in words.
pub(crate) struct Found {
    secret: Secret,
    pub(crate) place: String,
}

impl Surroundings {
    /// Hides the variables that hold these secrets from all scripts. A hidden variable stays hidden.
    pub(crate) fn note_secrets(&self, needs: &[&Needs]) {
        self.processes.known_secrets.expect_some();
        forbid_core_dumps();
        let operator = self.operators_sources().unwrap_or_default();
        let project = &self.settings().project_secrets;
        let mut names = BTreeSet::new();
        let of_needs = needs.iter().flat_map(|needs| needs.iter());
        let of_places = of_needs.flat_map(|need| {
            let places = Places::of(need, &operator, project);
            let sources = places.map(|places| places.sources).unwrap_or_default();
            // Values are known, and so redacted, before a script or a client can show them. Commands are run only when they are
            // needed.
            let found = sources.iter().find_map(|source| source.read(&need.name).ok().flatten());
            if let Some(secret) = &found {
                self.processes.known_secrets.add(secret);
            }
            sources
        });
        for source in of_places.chain(operator.usable().chain(project.usable()).cloned()) {
            names.extend(source.variable().map(OsString::from));
        }
        let mut hidden = self.secrets.hidden.lock();
        if !names.is_subset(&hidden.0) {
            names.extend(hidden.0.iter().cloned());
            *hidden = Arc::new(HiddenVariables(names));
        }
    }

    /// Adds the secrets that a script needs to its environment. `what` is the script, for errors.
    pub(crate) async fn give_secrets(
        &self,
        what: impl FnOnce() -> String,
        needs: &Needs,
        paths: &Paths,
        variables: &mut Variables,
    ) -> Result<(), ScriptError> {
        if needs.is_empty() {
            return Ok(());
        }
        // Boxed, to keep the futures of other calls small.
        Box::pin(self.give_all(needs, paths, variables))
            .await
            .map_err(|source| ScriptError::Secret { what: what(), source })
    }

    async fn give_all(
        &self,
        needs: &Needs,
        paths: &Paths,
        variables: &mut Variables,
    ) -> Result<(), SecretError> {
        for need in needs.iter() {
            let Found { secret, .. } = self.secret(need, paths).await?;
            // Before the script can show it.
            self.processes.known_secrets.add(&secret);
            match need.given {
                Given::Value => variables.set(&need.variable, OsStr::from_bytes(secret.reveal())),
                Given::File => {
                    let passed = secret.descriptor();
                    let passed = passed.and_then(|file| variables.set_descriptor(&need.variable, &file));
                    passed.map_err(|why| SecretError::NotPassed { name: need.name.clone(), why })?;
                }
            }
        }
        Ok(())
    }

    /// The source of a secret, in words. No command is run.
    pub(crate) fn look_for_secret(&self, need: &Need) -> Result<String, SecretError> {
        let operator = self.operators_sources()?;
        let places = Places::of(need, &operator, &self.settings().project_secrets)?;
        for source in &places.sources {
            let is_there = match source {
                Source::Command { words, .. } => {
                    self.refuse_command(need, words, places.author)?;
                    true
                }
                other => other.read(&need.name)?.is_some(),
            };
            if is_there {
                return Ok(source.to_string());
            }
        }
        Err(missing(need, &places))
    }

    /// Finds a secret.
    pub(crate) async fn secret(&self, need: &Need, paths: &Paths) -> Result<Found, SecretError> {
        let operator = self.operators_sources()?;
        let places = Places::of(need, &operator, &self.settings().project_secrets)?;
        for source in &places.sources {
            let found = match source {
                Source::Command { words, cache } => {
                    self.refuse_command(need, words, places.author)?;
                    Some(self.secrets.commands.value(self, &need.name, words, *cache, paths).await?)
                }
                other => other.read(&need.name)?,
            };
            if let Some(secret) = found {
                return Ok(Found { secret, place: source.to_string() });
            }
        }
        Err(missing(need, &places))
    }

    /// A command of a project is code that runs outside any sandbox, like a hook, so it needs the same permission.
    fn refuse_command(
        &self,
        need: &Need,
        words: &[String],
        author: Option<Author>,
    ) -> Result<(), SecretError> {
        if author == Some(Author::Project) && !self.settings().allow_hooks {
            let (name, program) = (need.name.clone(), words[0].clone());
            return Err(SecretError::Command { name, program, why: CommandFault::NotAllowed });
        }
        Ok(())
    }

    /// The entries of the operator's own file. They are read each time, so that changes take effect at once.
    fn operators_sources(&self) -> Result<Sources, SecretError> {
        let file = self.settings().secrets_file.clone().map(Store::new).or_else(Store::of_user);
        let Some(store) = file else { return Ok(Sources::default()) };
        Ok(store.read()?)
    }
}

/// Limits core dumps, so that the memory of a script that crashes, with its secrets, is not written to a file. Scripts inherit
/// the limit; a script can raise it again. With a limit of 0, the kernel would still pipe the dump to a collector
/// (`core_pattern` with `|`); with 1, it does neither.
fn forbid_core_dumps() {
    let limit = getrlimit(Resource::Core);
    let wanted = Some(limit.maximum.map_or(1, |maximum| maximum.min(1)));
    if limit.current != wanted {
        // If it cannot be lowered, nothing else can be done.
        let _ = setrlimit(Resource::Core, Rlimit { current: wanted, maximum: limit.maximum });
    }
}

/// The error for a secret that no source has.
fn missing(need: &Need, places: &Places) -> SecretError {
    let looked = places.sources.iter().map(Source::absent).collect();
    SecretError::Missing { name: need.name.clone(), looked }
}
