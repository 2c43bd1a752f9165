//! Worker definitions: what a function file contains, as its worker reports when it is ready. The worker is kept for the first
//! call of the file.

use super::Workers;
use super::fault::{Fault, Why};
use super::which::Which;
use crate::interpreters;
use crate::running::error::ScriptError;
use mcp_bash_project::{Paths, Unanswered, Worker};
use mcp_bash_secrets::Needs;
use mcp_bash_wire::{Limits, Object, Scanner};
use std::path::Path;

impl Workers {
    /// Loads a function file, and returns the definitions that its worker reports, as the text of a JSON object; or why it
    /// cannot be loaded. To be called in the runtime of the workers.
    pub(crate) async fn load_functions(
        &self,
        file: &Path,
        worker: &Worker,
        paths: &Paths,
    ) -> Result<String, Unanswered> {
        // The declaration of the file is not known before it is loaded, so the default of the project applies.
        let secrets = &Needs::default();
        let which = Which { script: file, worker, variables: &[], sandbox: None, secrets, roots: &[], paths };
        let mut starting = self.starting_worker(which).await.map_err(ScriptError::into_unanswered)?;
        let start = self.start_of(which, &starting);
        self.confine(which, &mut starting).await.map_err(ScriptError::into_unanswered)?;
        let ready = starting.start(self.surroundings.settings().workers.start).await;
        let ready = ready.map_err(|failure| told(failure.fault, which))?;
        let definitions = definitions_in(&ready.frame)
            .ok_or_else(|| Unanswered::from("its worker did not say which functions there are".to_owned()))?;
        let spare = self.spares.keep(start);
        self.runtime().spawn(ready.wait_for_calls(spare));
        Ok(definitions)
    }
}

/// The error for a file whose worker did not become ready.
fn told(fault: Fault, which: Which<'_>) -> Unanswered {
    let passes = fault.why.passes(&fault.said);
    let why = match fault.why {
        // The worker's own message about why it cannot serve is sufficient.
        Why::Failed => interpreters::explain(fault.said, which.script, which.worker.program, which.paths),
        Why::Distrusted(distrust) => distrust.to_string(),
        why => match fault.said.trim() {
            "" => format!("its worker {why}"),
            errors => format!("its worker {why}. It wrote: {errors}"),
        },
    };
    Unanswered { why, passes }
}

/// The content of a frame `{"ready":{…}}`.
fn definitions_in(frame: &[u8]) -> Option<String> {
    let whole = Scanner::new(std::str::from_utf8(frame).ok()?, Limits::NONE).whole_value().ok()?;
    let ready = Object::read(whole, "the frame", &["ready"]).ok()?.get("ready")?;
    Some(ready.text().to_owned())
}
