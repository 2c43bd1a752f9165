//! `mcp-bash sandbox show`: what each script may do, as resolved.

use crate::base::common::Common;
use crate::base::error::{Error, meant};
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use crate::open::script_entries::{ScriptEntry, script_entries};
use crate::terminal::print::{print, print_json};
use mcp_bash_project::roots;
use mcp_bash_sandbox::{Limits, Mode};
use mcp_bash_scripts::{AllowedPlace, SandboxSource, ScriptSandbox, Scripts};
use mcp_bash_spelling::nearest;
use mcp_bash_terminal::{Terminal, harmless_line};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(common: &Common, name: Option<&str>, as_json: bool) -> Result<ExitCode, Error> {
    let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true)?;
    let (scripts, catalog) = (&project.scripts, &project.catalog);
    let all = script_entries(catalog);
    let is_shown = |entry: &&ScriptEntry<'_>| name.is_none_or(|name| entry.name == name);
    let shown: Vec<&ScriptEntry<'_>> = all.iter().filter(is_shown).collect();
    if let (Some(name), []) = (name, &*shown) {
        let suggestion = meant(nearest(name, all.iter().map(|entry| entry.name)));
        let words = format!("nothing named '{}' runs a script{suggestion}", harmless_line(name));
        return Err(Error::of_command(Exit::NotFound, words));
    }
    let roots = roots::of_project(&catalog.paths, scripts.settings().roots.as_deref(), &mut Vec::new());
    let roots = roots.unwrap_or_default().into_iter().map(|root| root.path).collect();
    let shower = Shower { scripts, project: &catalog.paths.root, roots };
    if as_json {
        let shown: Value = shown.into_iter().map(|entry| shower.to_json(entry)).collect();
        print_json(&format!("{shown:#}"))?;
    } else {
        let terminal = Terminal::of_stdout();
        let shown: Vec<String> = shown.into_iter().map(|entry| shower.text(entry, terminal)).collect();
        print(&shown.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Shower<'a> {
    scripts: &'a Scripts,
    project: &'a Path,
    /// The roots of the project. Those of a client are not known here.
    roots: Vec<PathBuf>,
}

impl Shower<'_> {
    fn to_json(&self, entry: &ScriptEntry<'_>) -> Value {
        let mut shown = json!({ "kind": entry.kind, "name": entry.name });
        let sandbox = match self.scripts.sandbox_of(entry.own) {
            Ok(sandbox) => sandbox,
            Err(why) => {
                shown["refused"] = json!(why);
                return shown;
            }
        };
        shown["mode"] = json!(sandbox.mode().name());
        shown["source"] = json!(sandbox.source.name());
        let Some(Value::Object(summary)) = sandbox.summary() else { return shown };
        let (written, read) = self.places(&sandbox);
        shown["read"] = read.iter().map(place_to_json).collect();
        shown["write"] = written.iter().map(place_to_json).collect();
        shown["limits"] = limits_to_json(sandbox.limits());
        if let Value::Object(shown) = &mut shown {
            shown.extend(summary);
        }
        shown
    }

    fn text(&self, entry: &ScriptEntry<'_>, terminal: Terminal) -> String {
        let mut text = String::new();
        let title = terminal.painted("1", &harmless_line(&format!("{} {}", entry.kind, entry.name)));
        let sandbox = match self.scripts.sandbox_of(entry.own) {
            Ok(sandbox) => sandbox,
            Err(why) => return format!("{title}: not run: {}\n", harmless_line(&why)),
        };
        let source = source(sandbox.source);
        let Some(enforcement) = sandbox.enforcement() else {
            return format!("{title}: off ({source}): it may do all that its user may\n");
        };
        let _ = writeln!(text, "{title}: {} ({source})", sandbox.mode().name());
        let (written, read) = self.places(&sandbox);
        let mut line = |name: &str, words: &str| {
            let _ = writeln!(text, "  {name:<12} {}", harmless_line(words));
        };
        line("read", &format!("{}, programs and libraries of the system", listed(&read)));
        line("write", &listed(&written));
        line("network", &network(&sandbox));
        line("limits", &limits(sandbox.limits()));
        match enforcement {
            Ok(in_force) => {
                let enforced = in_force.levels().iter().filter(|(_, level)| level.why().is_none());
                let enforced: Vec<&str> = enforced.map(|(aspect, _)| aspect.name()).collect();
                line("enforced", &enforced.join(", "));
                for (aspect, level) in in_force.shortfalls() {
                    let why = level.why().unwrap_or_default();
                    line(level.word(), &format!("{}: {why}", aspect.name()));
                }
            }
            Err(refusal) => line("not run", &refusal.to_string()),
        }
        for place in read.iter().chain(&written) {
            if let Some(problem) = &place.problem {
                line("not run", problem);
            }
        }
        text
    }

    /// The places that may be written, and those that may be read only.
    fn places(&self, sandbox: &ScriptSandbox) -> (Vec<AllowedPlace>, Vec<AllowedPlace>) {
        sandbox.places(self.project, &self.roots).into_iter().partition(|place| place.is_writable)
    }
}

fn source(source: SandboxSource) -> &'static str {
    match source {
        SandboxSource::Operator => "MCPBASH_SANDBOX of the operator",
        SandboxSource::Project => "the default in server.d/server.meta.json",
        SandboxSource::Own => "its own metadata",
        SandboxSource::Nothing => "nothing declares a sandbox",
    }
}

fn place_to_json(place: &AllowedPlace) -> Value {
    let paths: Vec<_> = place.paths.iter().map(|path| path.to_string_lossy()).collect();
    let mut shown = json!({ "place": place.place.to_string(), "paths": paths });
    if let Some(problem) = &place.problem {
        shown["problem"] = json!(problem);
    }
    shown
}

/// `project (/srv/p), tmp`.
fn listed(places: &[AllowedPlace]) -> String {
    if places.is_empty() {
        return "nothing".to_owned();
    }
    let one = |place: &AllowedPlace| {
        let name = place.place.to_string();
        let paths: Vec<_> = place.paths.iter().map(|path| path.to_string_lossy()).collect();
        if paths.is_empty() || paths == [&*name] { name } else { format!("{name} ({})", paths.join(", ")) }
    };
    places.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn network(sandbox: &ScriptSandbox) -> String {
    match sandbox.summary().map(|mut summary| summary["network"].take()) {
        Some(Value::String(word)) => word,
        Some(Value::Array(hosts)) => hosts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => Mode::Off.name().to_owned(),
    }
}

fn limits_to_json(limits: Limits) -> Value {
    let Limits { memory, cpu_secs, processes, open_files, file_size } = limits;
    let known = [
        ("memory", memory),
        ("cpuSecs", cpu_secs),
        ("processes", processes),
        ("openFiles", open_files),
        ("fileSize", file_size),
    ];
    let set = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    Value::Object(set.collect::<Map<String, Value>>())
}

fn limits(limits: Limits) -> String {
    let Value::Object(set) = limits_to_json(limits) else { return String::new() };
    let words = set.iter().map(|(name, value)| format!("{name} {value}"));
    words.collect::<Vec<_>>().join(", ")
}
