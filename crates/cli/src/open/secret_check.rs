//! Secret check: which secrets a project needs, and whether each is where it should be. No command is run for it, and no
//! value is kept.

use crate::report::finding::Finding;
use mcp_bash_project::Catalog;
use mcp_bash_scripts::Scripts;

/// The secrets of a project.
#[derive(Default)]
pub(crate) struct SecretCheck {
    pub(crate) secrets: Vec<SecretState>,
}

pub(crate) struct SecretState {
    pub(crate) name: String,
    /// What needs it, as in "tool x".
    pub(crate) users: Vec<String>,
    /// Where it is, in words, or why it cannot be used.
    pub(crate) place: Result<String, String>,
}

impl SecretCheck {
    pub(crate) fn of(scripts: &Scripts, catalog: &Catalog) -> Self {
        let mut secrets: Vec<SecretState> = Vec::new();
        for user in catalog.secret_users() {
            for need in user.needs.iter() {
                let place = scripts.look_for_secret(need).map_err(|error| error.to_string());
                let is_same = |known: &&mut SecretState| known.name == need.name && known.place == place;
                match secrets.iter_mut().find(is_same) {
                    Some(known) => known.users.push(user.what.clone()),
                    None => {
                        let (name, users) = (need.name.clone(), vec![user.what.clone()]);
                        secrets.push(SecretState { name, users, place });
                    }
                }
            }
        }
        Self { secrets }
    }

    /// What is missing, as findings.
    pub(crate) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.secrets.iter().filter_map(|secret| {
            let why = secret.place.as_ref().err()?;
            // The fix comes after the last sentence.
            let (problem, remedy) =
                why.rsplit_once(". Set").map_or((why.as_str(), None), |(problem, rest)| {
                    (
                        problem,
                        Some(format!(
                            "set{rest}, or name its place in `secrets` of server.d/server.meta.json"
                        )),
                    )
                });
            let finding =
                Finding::warning("secrets.missing", format!("{} (for {})", problem, secret.users.join(", ")));
            let command = format!("mcp-bash secret set {}", secret.name);
            Some(match remedy {
                Some(remedy) => finding.remedy(remedy).command(command),
                None => finding.remedy("`mcp-bash secret check` says whether it can be used"),
            })
        })
    }
}
