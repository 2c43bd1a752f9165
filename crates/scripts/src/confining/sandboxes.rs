//! Sandboxes: the cells of a server, and their leases to processes.

use super::cell::Cell;
use super::command::CommandLine;
use super::confined::{Confined, NotConfined};
use super::denial::{Denial, Failure};
use super::key::Key;
use super::reach::Reached;
use super::script_sandbox::{SandboxSource, ScriptSandbox};
use super::tracing::{AccessTrace, Traced};
use super::usage_record;
use mcp_bash_project::{SdkVariable, languages};
use mcp_bash_proxy::Refusal;
use mcp_bash_runner::{StateDir, Variables};
use mcp_bash_sandbox::{Aspect, Confinement, Declaration, InForce, Keep, Mode};
use mcp_bash_settings::Settings;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::runtime::Handle;

/// How many unused cells are kept, in all.
const MAX_SPARE: usize = 64;

pub(crate) struct Sandboxes {
    settings: Arc<Settings>,
    state_dir: Arc<StateDir>,
    spare: Mutex<Spare>,
    tell: OnceLock<Tell>,
    /// The missing aspects that were reported.
    reported: Mutex<Vec<Aspect>>,
    /// The trace of one script's accesses, if the user asked for it.
    trace: OnceLock<Arc<AccessTrace>>,
}

type Tell = Box<dyn Fn(&InForce) + Send + Sync>;

#[derive(Default)]
struct Spare {
    cells: HashMap<Key, Vec<Cell>>,
    count: usize,
}

/// A sandbox for one process. It must outlive the process.
pub(crate) struct Lease {
    key: Key,
    /// `None` only while this value is dropped.
    cell: Option<Cell>,
    sandboxes: Arc<Sandboxes>,
    reach: Reached,
    trace: Option<Arc<AccessTrace>>,
    /// The trace of the process, if what it uses of its sandbox is recorded.
    traced: Option<Traced>,
}

impl Sandboxes {
    pub(crate) fn new(settings: Arc<Settings>, state_dir: Arc<StateDir>) -> Self {
        Self {
            settings,
            state_dir,
            spare: Mutex::default(),
            tell: OnceLock::new(),
            reported: Mutex::default(),
            trace: OnceLock::new(),
        }
    }

    /// Calls `tell` if this machine does not enforce an aspect that a sandbox promises, once for each aspect.
    pub(crate) fn on_shortfall(&self, tell: impl Fn(&InForce) + Send + Sync + 'static) {
        let _ = self.tell.set(Box::new(tell));
    }

    /// Whether a script may have a sandbox at all. Costs nothing if nothing is declared.
    pub(crate) fn may_confine(&self, confined: &Confined<'_>) -> bool {
        let settings = &self.settings;
        confined.declaration.is_some()
            || settings.sandbox.is_some()
            || !matches!(settings.project_sandbox, Ok(None))
            || self.traces(confined.script)
    }

    /// Traces the accesses of a script from now on, and turns its sandbox on. Only the first call counts.
    pub(crate) fn trace(&self, trace: Arc<AccessTrace>) {
        let _ = self.trace.set(trace);
    }

    pub(crate) fn traces(&self, script: &Path) -> bool {
        self.trace.get().is_some_and(|trace| trace.script == script)
    }

    /// The declaration in force for a script, from the operator's setting, its own declaration and the default of the project.
    /// `None` if it runs without a sandbox.
    pub(crate) fn in_force(&self, own: Option<&Declaration>) -> Result<Option<Declaration>, NotConfined> {
        let operator = match self.trace.get() {
            Some(_) => self.settings.sandbox.max(Some(Mode::On)),
            None => self.settings.sandbox,
        };
        if operator == Some(Mode::Off) {
            return Ok(None);
        }
        let default =
            self.settings.project_sandbox.as_ref().map_err(|why| NotConfined::Default(why.clone()))?;
        if own.is_none() && default.is_none() && operator.is_none() {
            return Ok(None);
        }
        let declared = match own {
            Some(own) => own.or(default.as_ref()),
            None => default.clone().unwrap_or_default(),
        };
        let mode = declared.effective_mode().max(operator.unwrap_or_default());
        Ok((mode > Mode::Off).then(|| declared.with_mode(mode)))
    }

    /// The sandbox of a script, and where it comes from.
    pub(crate) fn sandbox_of(&self, own: Option<&Declaration>) -> Result<ScriptSandbox, NotConfined> {
        let operator = self.settings.sandbox;
        let declaration = self.in_force(own)?;
        let default = self.settings.project_sandbox.as_ref().ok().and_then(Option::as_ref);
        let declared = own.map(|own| own.or(default)).or_else(|| default.cloned());
        let declared_mode = declared.as_ref().map(Declaration::effective_mode).unwrap_or_default();
        let source = match operator {
            Some(mode) if mode == Mode::Off || mode > declared_mode => SandboxSource::Operator,
            _ if own.is_some() => SandboxSource::Own,
            _ if default.is_some() => SandboxSource::Project,
            _ => SandboxSource::Nothing,
        };
        Ok(ScriptSandbox::new(declaration, source))
    }

    /// Whether the sandbox of a script allows the roots of the client.
    pub(crate) fn opens_roots(&self, own: Option<&Declaration>) -> bool {
        let opens = |declaration: Declaration| declaration.read.is_none() || declaration.lists_roots();
        self.in_force(own).ok().flatten().is_some_and(opens)
    }

    /// The roots of a call, if the sandbox of its script depends on them.
    pub(crate) fn roots_of<'a>(&self, own: Option<&Declaration>, roots: &'a [PathBuf]) -> &'a [PathBuf] {
        if self.opens_roots(own) { roots } else { &[] }
    }

    /// A sandbox for a script that `program` runs with these variables. `None` if it runs without one. The proxy and the
    /// bridges of the sandbox run in `runtime`.
    pub(crate) async fn lease(
        self: &Arc<Self>,
        confined: Confined<'_>,
        program: &Path,
        variables: &Variables,
        runtime: &Handle,
    ) -> Result<Option<Lease>, NotConfined> {
        let Some(declaration) = self.in_force(confined.declaration)? else { return Ok(None) };
        let key = Key {
            roots: self.roots_of(confined.declaration, confined.roots).to_vec(),
            project: confined.paths.root.clone(),
            script: confined.script.to_owned(),
            program: program.to_owned(),
            search_path: variables.get("PATH").unwrap_or_default().to_owned(),
            toolbox: toolbox(variables),
            declaration,
        };
        let cell = match self.pop(&key) {
            Some(cell) => cell,
            None => self.make(key.clone()).await?,
        };
        let reach = Reached::open(&cell, runtime)?;
        let trace = self.trace.get().filter(|trace| trace.script == key.script).cloned();
        Ok(Some(Lease { key, cell: Some(cell), sandboxes: Arc::clone(self), reach, trace, traced: None }))
    }

    /// A spare cell of that key that is still current.
    fn pop(&self, key: &Key) -> Option<Cell> {
        loop {
            let mut spare = self.spare.lock();
            let mut cell = spare.cells.get_mut(key)?.pop()?;
            spare.count -= 1;
            drop(spare);
            if cell.is_current() {
                return Some(cell);
            }
            cell.folders.discard();
        }
    }

    /// Makes a cell on a blocking thread.
    async fn make(&self, key: Key) -> Result<Cell, NotConfined> {
        let state_dir = Arc::clone(&self.state_dir);
        let made = tokio::task::spawn_blocking(move || Cell::make(&key, &state_dir)).await;
        let cell = made.map_err(|error| NotConfined::Setup(io::Error::other(error)))??;
        if let Some(tell) = self.tell.get()
            && self.has_unreported(&cell.plan.in_force)
        {
            tell(&cell.plan.in_force);
        }
        Ok(cell)
    }

    /// Whether an aspect is missing that was not reported yet.
    fn has_unreported(&self, in_force: &InForce) -> bool {
        let mut reported = self.reported.lock();
        let before = reported.len();
        for (aspect, _) in in_force.shortfalls() {
            if !reported.contains(aspect) {
                reported.push(*aspect);
            }
        }
        reported.len() > before
    }

    fn take_back(&self, key: Key, mut cell: Cell) {
        if !cell.folders.are_clean() {
            cell.folders.discard();
            return;
        }
        let mut spare = self.spare.lock();
        if spare.count < MAX_SPARE {
            spare.count += 1;
            spare.cells.entry(key).or_default().push(cell);
        } else {
            drop(spare);
            cell.folders.discard();
        }
    }
}

impl Lease {
    /// The restrictions of the process, which shares `call_folder` with us.
    pub(crate) fn confine(
        &mut self,
        call_folder: Option<&Path>,
        command: CommandLine<'_>,
    ) -> io::Result<Confinement> {
        let Some(cell) = &mut self.cell else { return Ok(Confinement::default()) };
        let confinement = cell.confine(call_folder, command)?;
        if self.trace.is_none() && self.sandboxes.settings.sandbox_usage.is_none() {
            return Ok(confinement);
        }
        let (confinement, traced) = Traced::watch(confinement, &self.key, cell, call_folder)?;
        if let Some(trace) = &self.trace {
            trace.set(traced.clone());
        }
        self.traced = Some(traced);
        Ok(confinement)
    }

    /// The variables of the process.
    pub(crate) fn set_variables(&self, variables: &mut Variables) {
        if let Some(cell) = &self.cell {
            cell.set_variables(variables);
            self.reach.set_variables(variables);
        }
    }

    /// The probable denial, if the process failed in `directory` with this output.
    pub(crate) fn explain(&self, directory: &Path, exit_code: Option<i32>, said: &str) -> Option<Denial> {
        self.explained(directory, exit_code, said, &self.reach.refusals())
    }

    /// The same for a call in a worker, which may have had refusals in other calls.
    pub(crate) fn explain_call(&self, said: &str) -> Option<Denial> {
        let mut refusals = self.reach.refusals();
        refusals.retain(|refusal| said.contains(&refusal.host));
        self.explained(&self.key.project, None, said, &refusals)
    }

    fn explained(
        &self,
        directory: &Path,
        exit_code: Option<i32>,
        said: &str,
        refusals: &[Refusal],
    ) -> Option<Denial> {
        let failure = Failure {
            policy: &self.cell.as_ref()?.policy,
            declaration: &self.key.declaration,
            project: &self.key.project,
            directory,
            refusals,
            exit_code,
            said,
        };
        failure.explain()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(trace) = &self.trace {
            let refused = self.reach.refusals().into_iter();
            trace.note_refused_hosts(refused.map(|refusal| format!("{}:{}", refusal.host, refusal.port)));
        }
        if let (Some(file), Some(traced)) = (&self.sandboxes.settings.sandbox_usage, &self.traced) {
            // If this fails, a line is missing, which causes no false warning: readers judge only what is in the file.
            let _ = usage_record::append(file, &self.key, traced, self.reach.entries());
        }
        if let Some(cell) = self.cell.take() {
            self.sandboxes.take_back(self.key.clone(), cell);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lease").field("script", &self.key.script).finish_non_exhaustive()
    }
}

impl Keep for Lease {}

/// The folders and files of the SDK and the toolbox that a script uses, as its variables name them.
fn toolbox(variables: &Variables) -> Vec<PathBuf> {
    let path = |name: &str| variables.get(name).map(PathBuf::from);
    let of_languages = languages().filter_map(|language| match language.sdk_variable {
        SdkVariable::File { variable, .. } => path(variable)?.parent().map(Path::to_owned),
        SdkVariable::SearchPath { variable, .. } => std::env::split_paths(variables.get(variable)?).last(),
    });
    let ours = ["MCPBASH_HOME", "MCPBASH_BIN"].into_iter().filter_map(path);
    ours.chain(of_languages).collect()
}
