//! Completion referent: the prompt or resource of the argument, and the source of its values.

use super::params::{Params, Reference};
use crate::callers::Rights;
use mcp_bash_project::{Catalog, Completion, Prompt};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use mcp_bash_wire::RpcError;
use std::path::PathBuf;
use std::time::Duration;

/// A prompt, a resource, or just a name with a registered completion.
pub(super) struct Referent<'a> {
    /// The name under which its completions are registered.
    pub(super) name: &'a str,
    pub(super) registered: Option<&'a Completion>,
    pub(super) prompt: Option<&'a Prompt>,
}

/// The source of the values.
pub(super) enum By {
    Script(Box<Completer>),
    /// The JSON Schema of the argument.
    Schema(String),
}

/// A completion script.
pub(super) struct Completer {
    pub(super) program: PathBuf,
    /// Identifies the script in cursors.
    pub(super) key: String,
    pub(super) timeout: Option<Duration>,
    /// Its declared sandbox, if there is one.
    pub(super) sandbox: Option<Declaration>,
    /// The secrets that it needs.
    pub(super) secrets: Needs,
    /// Whether the script is beside the prompt; then it receives the prompt's details.
    pub(super) beside_prompt: bool,
}

impl<'a> Referent<'a> {
    /// Finds the referent. It is not found if the rights of the caller do not allow it.
    pub(super) fn find(
        catalog: &'a Catalog,
        params: &'a Params,
        rights: Option<&Rights>,
    ) -> Result<Self, RpcError> {
        match &params.reference {
            Reference::Prompt(name)
                if rights.is_none_or(|rights| rights.prompt_hindrance(name).is_none()) =>
            {
                Self::of_prompt(catalog, name)
            }
            Reference::Prompt(name) => Err(unknown_prompt(name)),
            Reference::Resource(uri) => Self::of_resource(catalog, uri, rights),
        }
    }

    fn of_prompt(catalog: &'a Catalog, name: &'a str) -> Result<Self, RpcError> {
        let registered = catalog.completions.get(name).map(AsRef::as_ref);
        let prompt = catalog.prompts.get(name).map(AsRef::as_ref);
        if registered.is_none() && prompt.is_none() {
            return Err(unknown_prompt(name));
        }
        Ok(Self { name, registered, prompt })
    }

    /// Finds a resource or template by its URI, or a completion registered under that URI.
    fn of_resource(catalog: &'a Catalog, uri: &'a str, rights: Option<&Rights>) -> Result<Self, RpcError> {
        let completion = |name: &str| catalog.completions.get(name).map(AsRef::as_ref);
        let may_use_others = rights.is_none_or(Rights::may_read_others);
        if let Some(registered) = completion(uri).filter(|_| may_use_others) {
            return Ok(Self { name: uri, registered: Some(registered), prompt: None });
        }
        let template = catalog.templates.items().iter().find(|known| known.template.as_str() == uri);
        let template = template.filter(|known| rights.is_none_or(|rights| rights.may_read_template(known)));
        let resource = || {
            let known = catalog.resources.items().iter().find(|known| known.uri == uri);
            known.filter(|known| rights.is_none_or(|rights| rights.may_read(known)))
        };
        let name = template.map(|known| &*known.about.name).or_else(|| Some(&*resource()?.about.name));
        let name = name.ok_or_else(|| RpcError::invalid_params(format!("Unknown resource: {uri}")))?;
        Ok(Self { name, registered: completion(name), prompt: None })
    }

    /// The source of the values: a registered script, else one beside the prompt, else the schema of the argument.
    pub(super) fn by(&self, params: &Params) -> Result<By, RpcError> {
        if let Some(completion) = self.registered {
            return Ok(By::Script(Box::new(Completer {
                program: completion.script.clone(),
                key: format!("manual:{}", completion.path),
                timeout: completion.timeout,
                sandbox: completion.sandbox.clone(),
                secrets: completion.secrets.clone(),
                beside_prompt: false,
            })));
        }
        let Some(prompt) = self.prompt else { return Ok(By::Schema("{}".to_owned())) };
        if let Some(program) = prompt.completion_script() {
            let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(By::Script(Box::new(Completer {
                program,
                key: format!("prompt:{name}"),
                timeout: prompt.timeout,
                sandbox: prompt.sandbox.clone(),
                secrets: prompt.secrets.clone(),
                beside_prompt: true,
            })));
        }
        self.schema(params).map(By::Schema).ok_or_else(|| {
            let known: Vec<String> =
                prompt.arguments.iter().map(|argument| format!("`{}`", argument.name)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            RpcError::invalid_params(format!(
                "Invalid params: the prompt '{}' has no argument `{}`; it has {known}",
                prompt.name, params.argument
            ))
        })
    }

    /// The schema of the argument, if there is one.
    pub(super) fn schema(&self, params: &Params) -> Option<String> {
        let argument = self.prompt?.arguments.iter().find(|argument| argument.name == params.argument)?;
        Some(argument.schema.get().to_owned())
    }
}

fn unknown_prompt(name: &str) -> RpcError {
    RpcError::invalid_params(format!("Unknown prompt: {name}"))
}

impl By {
    /// Identifies the source in cursors.
    pub(super) fn key(&self, referent: &Referent<'_>) -> String {
        match self {
            Self::Script(completer) => completer.key.clone(),
            Self::Schema(_) => format!("builtin:{}", referent.name),
        }
    }
}
