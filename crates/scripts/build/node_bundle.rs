//! Bundle for Node.js: all modules of its worker and of its SDK as one module, because each module that node has to find and to
//! open delays the first result of a function. It exports what `index.mjs` exports, and starts the worker.
//!
//! Each module becomes a function that runs once and returns its exports, so that its other names stay its own. The sources
//! keep to the few forms of `import` and `export` that are read here; any other one, and a name that two modules export, ends
//! the build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The name of the bundle, below the folder of the SDK.
pub(crate) const NAME: &str = "node/bundle.mjs";

/// What function files import.
const INDEX: &str = "index.mjs";

/// The module that starts the worker.
const START: &str = "lib/worker/start.mjs";

/// Modules that few files need: they stay files, and import nothing outside their folder.
const SEPARATE: &str = "lib/types/";

/// The text of the bundle of the modules in `folder`.
pub(crate) fn bundle(folder: &Path) -> String {
    let mut bundle = Bundle { folder: folder.to_owned(), ..Bundle::default() };
    // The worker begins before modules that are only for function files and scripts, and takes the place of a script.
    bundle.add(START);
    let exported = bundle.index();
    let mut named = BTreeSet::new();
    while let Some(later) = bundle.later.pop_first() {
        if named.insert(later.clone()) {
            bundle.add(&later);
            let exports = bundle.added[&later].join(", ");
            let _ = writeln!(bundle.text, "const {} = {{ {exports} }}", namespace(&later));
        }
    }
    let mut text =
        "// All modules of the SDK and of its worker in one: made from the files beside it.\n\n".to_owned();
    for (name, import) in &bundle.builtins {
        assert!(
            !bundle.exports.contains_key(name),
            "two modules of the SDK for Node.js mean different things by `{name}`"
        );
        let _ = writeln!(text, "import {import}");
    }
    text += &bundle.text;
    text + &format!("\nexport {{ {} }}\n", exported.join(", "))
}

#[derive(Default)]
struct Bundle {
    folder: PathBuf,
    /// The modules so far, dependencies first.
    text: String,
    /// Modules that are in the text, or will be soon, and what they export.
    added: BTreeMap<String, Vec<String>>,
    /// The module that exports a name.
    exports: BTreeMap<String, String>,
    /// What is imported from node, by its local name.
    builtins: BTreeMap<String, String>,
    /// Modules that others import while they run.
    later: BTreeSet<String>,
}

impl Bundle {
    /// Adds the modules from which `index.mjs` exports; the names that it exports.
    fn index(&mut self) -> Vec<String> {
        let text = self.read(INDEX);
        let mut names = Vec::new();
        for line in text.lines().filter(|line| line.starts_with("export ")) {
            let (exported, from) = from_clause(line, "export ", INDEX);
            self.add(&resolved(INDEX, from));
            names.extend(names_in(exported, line));
        }
        names
    }

    /// Adds a module after those that it imports.
    fn add(&mut self, name: &str) {
        if self.added.contains_key(name) {
            return;
        }
        // Two modules that import each other would end here.
        self.added.insert(name.to_owned(), Vec::new());
        let (mut body, mut exports) = (String::new(), Vec::new());
        for line in self.read(name).lines() {
            if line.starts_with("import ") {
                self.import(line, name, &mut body);
            } else if let Some(rest) = line.strip_prefix("export {") {
                exports.extend(names_in(&format!("{{{rest}"), line));
            } else {
                let declaration = line.strip_prefix("export ");
                exports.extend(declaration.map(|declaration| declared(declaration, line)));
                let _ = writeln!(body, "{}", self.moved(declaration.unwrap_or(line), name));
            }
        }
        for export in &exports {
            let other = self.exports.insert(export.clone(), name.to_owned());
            assert!(other.is_none(), "{name} and {other:?} both export `{export}`");
        }
        let _ = match exports.join(", ") {
            none if none.is_empty() => write!(self.text, "\n// {name}\n;(() => {{\n{body}}})()\n"),
            all => write!(
                self.text,
                "\n// {name}\nconst {{ {all} }} = (() => {{\n{body}return {{ {all} }}\n}})()\n"
            ),
        };
        self.added.insert(name.to_owned(), exports);
    }

    fn import(&mut self, line: &str, name: &str, body: &mut String) {
        let (what, from) = from_clause(line, "import ", name);
        let all = what.strip_prefix("* as ");
        if from.starts_with("node:") {
            let locals = all.map_or_else(|| names_in(what, line), |all| vec![all.to_owned()]);
            for local in locals {
                let import = if all.is_some() {
                    format!("{what} from '{from}'")
                } else {
                    format!("{{ {local} }} from '{from}'")
                };
                let other = self.builtins.insert(local.clone(), import.clone());
                assert!(other.is_none_or(|other| other == import), "{name} imports another `{local}`");
            }
            return;
        }
        let module = resolved(name, from);
        self.add(&module);
        let exports = &self.added[&module];
        assert!(!exports.is_empty(), "{name} and {module} import each other, or there is nothing to import");
        if let Some(all) = all {
            let _ = writeln!(body, "const {all} = {{ {} }}", exports.join(", "));
            return;
        }
        for imported in names_in(what, line) {
            assert!(
                exports.contains(&imported),
                "{module} does not export the `{imported}` that {name} imports"
            );
        }
    }

    /// A line of a module, with the places of files as seen from the bundle.
    fn moved(&mut self, line: &str, name: &str) -> String {
        let mut text = line.to_owned();
        for start in ["new URL('", "await import('"] {
            let Some((before, rest)) = line.split_once(start) else { continue };
            let Some((place, after)) = rest.split_once('\'').filter(|(place, _)| place.starts_with('.'))
            else {
                continue;
            };
            let target = resolved(name, place);
            text = if start.starts_with("new") {
                // Files that import the SDK get this module.
                let target = if target == INDEX { NAME.trim_start_matches("node/") } else { &target };
                format!("{before}new URL('./{target}'{after}")
            } else if target.starts_with(SEPARATE) {
                format!("{before}await import('./{target}'{after}")
            } else {
                let after = after.strip_prefix(')').expect("an import of one module");
                let name = namespace(&target);
                self.later.insert(target);
                format!("{before}{name}{after}")
            };
        }
        if text == line && line.contains("import.meta.url") {
            text = line.replace("import.meta.url", &format!("new URL('./{name}', import.meta.url).href"));
        }
        text
    }

    fn read(&self, name: &str) -> String {
        let path = self.folder.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// The parts of `import WHAT from 'WHERE'`.
fn from_clause<'l>(line: &'l str, keyword: &str, name: &str) -> (&'l str, &'l str) {
    let parts = line.strip_prefix(keyword).and_then(|rest| rest.split_once(" from '"));
    let parts = parts.and_then(|(what, from)| Some((what, from.strip_suffix('\'')?)));
    parts.unwrap_or_else(|| panic!("the bundle of {name} needs `{keyword}… from '…'` in one line: {line}"))
}

/// The names in `{ a, b }`.
fn names_in(braces: &str, line: &str) -> Vec<String> {
    let names = braces.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let names = names.unwrap_or_else(|| panic!("the bundle needs `{{ names }}`: {line}"));
    assert!(!names.contains(" as "), "the bundle knows each export by one name: {line}");
    names.split(',').map(|name| name.trim().to_owned()).collect()
}

/// The name that a declaration declares.
fn declared(declaration: &str, line: &str) -> String {
    let kinds = ["const ", "class ", "function ", "async function "];
    let rest = kinds.iter().find_map(|kind| declaration.strip_prefix(kind));
    let rest = rest.unwrap_or_else(|| panic!("the bundle needs a constant, a class or a function: {line}"));
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    rest.split(|letter| !is_part(letter)).next().unwrap_or_default().to_owned()
}

/// The name of an object with what a module exports.
fn namespace(module: &str) -> String {
    module.replace(|letter: char| !letter.is_alphanumeric(), "_")
}

/// The path of a module that another one names, below the folder.
fn resolved(from: &str, place: &str) -> String {
    let mut path = PathBuf::new();
    let base = Path::new(from).parent().expect("a module in the folder");
    for part in base.join(place).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path.to_str().expect("a path that was text").to_owned()
}
