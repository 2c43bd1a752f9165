//! Launcher: where a tool runs, and what starts it there.

use crate::commands::{self, Commands};
use crate::error::LauncherError;
use crate::files::Files;
use crate::launchers::READY;
use crate::members::Members;
use serde_json::{Map, Value, json};

/// A launcher that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// Its name: one of a project, one that is built in, or `custom`.
    pub name: String,
    pub kind: Kind,
    pub files: Files,
    /// The folder for temporary files on the other host, if its author says so.
    pub temporary: Option<String>,
}

/// What starts a tool elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Ssh { host: String, options: Vec<String> },
    Slurm { options: Vec<String> },
    Kubernetes { image: String, namespace: Option<String>, options: Vec<String> },
    Custom { run: Vec<String>, cancel: Option<Vec<String>> },
}

impl Launcher {
    /// Reads the members of a launcher with this name.
    pub(crate) fn read(name: &str, members: &Map<String, Value>) -> Result<Self, LauncherError> {
        let members = Members(members);
        let used = members.text("use")?;
        let ready = used.as_deref().filter(|used| READY.contains(used)).unwrap_or(name);
        let options = || Ok(members.list("options")?.unwrap_or_default());
        let kind = match ready {
            "ssh" => {
                members.only(&["use", "host", "options", "files", "carry", "folder", "temporary"])?;
                Kind::Ssh { host: members.required("host", "ssh")?, options: options()? }
            }
            "slurm" => {
                members.only(&["use", "options", "files", "carry", "folder", "temporary"])?;
                Kind::Slurm { options: options()? }
            }
            "kubernetes" => {
                members.only(&[
                    "use",
                    "image",
                    "namespace",
                    "options",
                    "files",
                    "carry",
                    "folder",
                    "temporary",
                ])?;
                let (image, namespace) =
                    (members.required("image", "kubernetes")?, members.operand("namespace")?);
                Kind::Kubernetes { image, namespace, options: options()? }
            }
            _ => {
                members.only(&["run", "cancel", "files", "carry", "folder", "temporary"])?;
                let run = members.list("run")?;
                let run = run.filter(|words| !words.is_empty());
                let run = run.ok_or_else(|| LauncherError::Missing { key: "run", name: "it".to_owned() })?;
                let cancel = members.list("cancel")?.filter(|words| !words.is_empty());
                commands::check("run", &run)?;
                cancel.as_ref().map_or(Ok(()), |words| commands::check("cancel", words))?;
                Kind::Custom { run, cancel }
            }
        };
        let (files, temporary) = (Files::read(members)?, members.operand("temporary")?);
        Ok(Self { name: name.to_owned(), kind, files, temporary })
    }

    /// The command lines of one call.
    pub fn commands(&self, id: &str, seconds: u64) -> Commands {
        Commands::of(&self.kind, id, seconds)
    }

    /// The program that is started on the host of the server.
    pub fn program(&self) -> &str {
        match &self.kind {
            Kind::Ssh { .. } => "ssh",
            Kind::Slurm { .. } => "srun",
            Kind::Kubernetes { .. } => "kubectl",
            Kind::Custom { run, .. } => &run[0],
        }
    }

    /// The launcher in a few words, for people and the audit log: `cluster (slurm)`, `ssh build1`.
    pub fn words(&self) -> String {
        let (name, place) = (&self.name, self.place());
        let ready = self.ready_name().filter(|ready| ready != name);
        match (ready, place) {
            (None, None) => name.clone(),
            (None, Some(place)) => format!("{name} {place}"),
            (Some(ready), None) => format!("{name} ({ready})"),
            (Some(ready), Some(place)) => format!("{name} ({ready} {place})"),
        }
    }

    /// The same as JSON, for results: `node` is the host that the tool ran on.
    pub fn summary(&self, node: Option<&str>) -> String {
        let mut facts = Map::new();
        facts.insert("name".to_owned(), json!(self.name));
        if let Some(ready) = self.ready_name().filter(|ready| *ready != self.name) {
            facts.insert("uses".to_owned(), json!(ready));
        }
        if let Some(place) = self.place() {
            facts.insert("place".to_owned(), json!(place));
        }
        if let Some(node) = node {
            facts.insert("node".to_owned(), json!(node));
        }
        Value::Object(facts).to_string()
    }

    /// Whether the operator allows it, by one of these names.
    pub fn is_allowed(&self, names: &[String]) -> bool {
        let ready = self.ready_name();
        names.iter().any(|name| match (name.split_once(':'), ready, self.place()) {
            (Some((name, place)), Some(ready), Some(own)) => name == ready && place == own,
            (Some(_), _, _) => false,
            (None, ready, _) => *name == self.name || Some(name.as_str()) == ready || name == "*",
        })
    }

    /// The host or the image that it names.
    fn place(&self) -> Option<&str> {
        match &self.kind {
            Kind::Ssh { host, .. } => Some(host),
            Kind::Kubernetes { image, .. } => Some(image),
            Kind::Slurm { .. } | Kind::Custom { .. } => None,
        }
    }

    fn ready_name(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Ssh { .. } => Some("ssh"),
            Kind::Slurm { .. } => Some("slurm"),
            Kind::Kubernetes { .. } => Some("kubernetes"),
            Kind::Custom { .. } => None,
        }
    }
}
