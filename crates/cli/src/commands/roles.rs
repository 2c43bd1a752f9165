//! `mcp-bash roles`: checks the roles file, and shows what a caller may do.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use crate::open::startup;
use crate::terminal::print::{print, print_json};
use clap::{Args, Subcommand};
use mcp_bash_project::{Catalog, Tool};
use mcp_bash_roles::{Grant, Granted, Hindrance, Role, Roles, Subject, ToolFacts};
use mcp_bash_settings::AllowedNames;
use mcp_bash_terminal::harmless_line;
use mcp_bash_transport::http::RolesFile;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Check the file, and list its roles and to whom they are given
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArguments),
    /// Show which tools, resources and prompts a caller may use now
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArguments),
}

const CHECK_EXAMPLES: &str = "\
Examples:
  mcp-bash roles check
  mcp-bash roles check --file /etc/mcp/roles.yaml --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  mcp-bash roles show --token-name alice
  mcp-bash roles show --caller ada@example.com --group ops --scope tools:deploy";

#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    place: NamedFile,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    place: NamedFile,

    /// The caller has a token of this name
    #[arg(long, value_name = "NAME", group = "who")]
    token_name: Option<String>,

    /// The caller has a client certificate of this name
    #[arg(long, value_name = "NAME", group = "who")]
    certificate: Option<String>,

    /// The caller is known by this name otherwise
    #[arg(long, value_name = "NAME", group = "who")]
    caller: Option<String>,

    /// A group of the caller; may be repeated
    #[arg(long, value_name = "GROUP")]
    group: Vec<Box<str>>,

    /// A scope of the caller's token; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<Box<str>>,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
#[group(skip)]
struct NamedFile {
    /// The roles file [default: `MCPBASH_HTTP_ROLES`, or server.d/roles.yaml of the project]
    #[arg(long, visible_alias = "roles", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl NamedFile {
    fn read(&self, project: Option<&Path>) -> Result<(PathBuf, Roles), Error> {
        let (settings, _) = startup::settings();
        let file = self.file.clone().or(settings.http.roles).or_else(|| project.map(Path::to_owned));
        let file = file.ok_or_else(|| {
            let advice = "which file? give `--file FILE`, or set MCPBASH_HTTP_ROLES";
            Error::of_command(Exit::Usage, advice)
        })?;
        let roles = RolesFile::read(&file).map_err(|error| Error::of_command(Exit::Usage, error))?;
        Ok((file, roles))
    }
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::Check(arguments) => check(common, arguments),
        Arguments::Show(arguments) => show(common, arguments),
    }
}

fn check(common: &Common, arguments: &CheckArguments) -> Result<ExitCode, Error> {
    // The file can be checked without a project.
    let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true).ok();
    let of_project = project.as_ref().map(|project| project.catalog.paths.roles());
    let (file, roles) = arguments.place.read(of_project.as_deref())?;
    if arguments.json {
        let all: Value = roles.iter().map(described).collect();
        let default = roles.default_role().map(|role| &*role.name);
        let report = json!({ "file": file.to_string_lossy(), "roles": all, "default": default });
        print_json(&format!("{report:#}"))?;
    } else {
        let mut text = String::new();
        for role in roles.iter() {
            let _ = writeln!(text, "{}", harmless_line(&in_words(role)));
        }
        if let Some(default) = roles.default_role() {
            let _ = writeln!(text, "Callers without a role have `{}`.", harmless_line(&default.name));
        } else {
            text.push_str("Callers without a role may do nothing.\n");
        }
        print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(common: &Common, arguments: &ShowArguments) -> Result<ExitCode, Error> {
    let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true)?;
    let catalog = &project.catalog;
    let (_, roles) = arguments.place.read(Some(&catalog.paths.roles()))?;
    let named = arguments.token_name.as_deref().or(arguments.caller.as_deref());
    let of_certificate = arguments.certificate.as_ref().map(|name| format!("certificate {name}"));
    let name = named.or(of_certificate.as_deref()).unwrap_or_default();
    let granted = roles.of(&Subject {
        name,
        token: arguments.token_name.as_deref(),
        certificate: arguments.certificate.as_deref(),
        groups: &arguments.group,
        scopes: &arguments.scope,
    });
    let usable = Usable::of(catalog, &granted);
    if arguments.json {
        print_json(&format!("{:#}", usable.to_json(&granted)))?;
    } else {
        print(&usable.text(&granted))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a caller may use.
struct Usable<'a> {
    tools: Vec<&'a str>,
    /// Tools that it may call at other hours, and which.
    closed: Vec<(&'a str, String)>,
    resources: Vec<&'a str>,
    prompts: Vec<&'a str>,
}

impl<'a> Usable<'a> {
    fn of(catalog: &'a Catalog, granted: &Granted) -> Self {
        let now = SystemTime::now();
        let grants = || granted.grants.iter().map(|grant| &**grant);
        let hindrance = |tool: &Tool| {
            let facts = ToolFacts { name: &tool.name, is_read_only: Some(tool.is_read_only()) };
            Hindrance::of_all(grants(), |grant| grant.hindrance(facts, now))
        };
        let mut usable =
            Self { tools: Vec::new(), closed: Vec::new(), resources: Vec::new(), prompts: Vec::new() };
        for tool in catalog.tools.items() {
            match hindrance(tool) {
                None => usable.tools.push(&tool.name),
                Some(Hindrance::Closed(hours)) => usable.closed.push((&tool.name, hours)),
                Some(_) => {}
            }
        }
        let is_open = |grant: &&Grant| grant.closed(now).is_none();
        let reads =
            |name: &str, uri: &str| grants().filter(is_open).any(|grant| grant.allows_resource(name, uri));
        let resources = catalog.resources.items().iter();
        let resources = resources.filter(|known| reads(&known.about.name, &known.uri));
        let templates = catalog.templates.items().iter();
        let templates = templates.filter(|known| reads(&known.about.name, known.template.as_str()));
        usable.resources.extend(resources.map(|known| known.uri.as_str()));
        usable.resources.extend(templates.map(|known| known.template.as_str()));
        let prompts = catalog.prompts.items().iter().map(|prompt| prompt.name.as_str());
        let gets = |name: &&str| grants().filter(is_open).any(|grant| grant.allows_prompt(name));
        usable.prompts.extend(prompts.filter(gets));
        usable
    }

    fn to_json(&self, granted: &Granted) -> Value {
        let closed = self.closed.iter().map(|(tool, hours)| json!({ "tool": tool, "hours": hours }));
        json!({
            "roles": granted.roles.iter().map(|name| &**name).collect::<Vec<&str>>(),
            "tools": self.tools,
            "atOtherHours": closed.collect::<Value>(),
            "resources": self.resources,
            "prompts": self.prompts,
            "rate": granted.rate.map(|rate| rate.to_string()),
            "concurrency": granted.concurrency,
        })
    }

    fn text(&self, granted: &Granted) -> String {
        let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let roles: Vec<&str> = granted.roles.iter().map(|name| &**name).collect();
        let mut text = String::new();
        let mut line = |title: &str, names: &str| {
            let _ = writeln!(text, "{title:10} {}", harmless_line(names));
        };
        line("Roles", &list(&roles));
        line("Tools", &list(&self.tools));
        for (tool, hours) in &self.closed {
            line("", &format!("{tool} (not now: {hours})"));
        }
        line("Resources", &list(&self.resources));
        line("Prompts", &list(&self.prompts));
        if let Some(rate) = granted.rate {
            line("Rate", &rate.to_string());
        }
        if let Some(most) = granted.concurrency {
            line("At a time", &most.to_string());
        }
        text
    }
}

fn described(role: &Role) -> Value {
    let names = |list: &AllowedNames| {
        let mut names: Vec<&str> = list.iter().collect();
        names.sort_unstable();
        json!(names)
    };
    let (grant, given) = (&role.grant, &role.given);
    json!({
        "name": &*role.name,
        "tools": grant.tools.as_ref().map(names),
        "resources": grant.resources.as_ref().map(names),
        "prompts": grant.prompts.as_ref().map(names),
        "readOnly": grant.read_only,
        "hours": grant.hours.as_ref().map(ToString::to_string),
        "rate": role.rate.map(|rate| rate.to_string()),
        "concurrency": role.concurrency,
        "given": {
            "tokens": names(&given.tokens),
            "groups": names(&given.groups),
            "scopes": names(&given.scopes),
            "certificates": names(&given.certificates),
            "callers": names(&given.callers),
        },
    })
}

/// A role in one line.
fn in_words(role: &Role) -> String {
    let described = described(role);
    let mut words = format!("{}:", role.name);
    for key in ["tools", "resources", "prompts"] {
        if let Some(names) = described[key].as_array() {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let _ = write!(words, " {key} {names};");
        }
    }
    if role.grant.read_only {
        words.push_str(" read-only;");
    }
    for key in ["rate", "hours"] {
        if let Some(value) = described[key].as_str() {
            let _ = write!(words, " {key} {value};");
        }
    }
    if let Some(most) = role.concurrency {
        let _ = write!(words, " {most} at a time;");
    }
    let given = described["given"].as_object().into_iter().flatten();
    let given = given.filter_map(|(kind, names)| {
        let names: Vec<&str> = names.as_array()?.iter().filter_map(Value::as_str).collect();
        (!names.is_empty()).then(|| format!("{kind} {}", names.join(", ")))
    });
    let given: Vec<String> = given.collect();
    let _ =
        write!(words, " given to {}", if given.is_empty() { "nobody".to_owned() } else { given.join("; ") });
    words
}
