//! SDK and jq for scripts: written when the first script needs them, and again when they are gone.

use crate::running::error::NoEnvironment;
use crate::running::processes::Processes;
use crate::surroundings::toolbox::Toolbox;
use parking_lot::Mutex;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

#[derive(Default)]
pub(crate) struct Sdk {
    toolbox: Mutex<Option<Arc<Toolbox>>>,
    /// Whether it is the one in the user's cache.
    is_shared: AtomicBool,
    on_missing: OnceLock<ReportError>,
    /// Whether the last attempt to write it failed.
    is_missing: AtomicBool,
}

type ReportError = Box<dyn Fn(&io::Error) + Send + Sync>;

impl Sdk {
    /// Sets a callback for the error by which scripts have no SDK. It is called once per series of failures.
    pub(crate) fn on_missing(&self, report: impl Fn(&io::Error) + Send + Sync + 'static) {
        let _ = self.on_missing.set(Box::new(report));
    }

    /// Uses the SDK in the user's cache, if possible. For a command that exits after one call.
    pub(crate) fn share(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
    }

    /// The toolbox, written if it is not complete.
    pub(crate) fn toolbox(&self, processes: &Processes) -> Result<Arc<Toolbox>, NoEnvironment> {
        let mut toolbox = self.toolbox.lock();
        if let Some(laid_out) = toolbox.as_ref().filter(|toolbox| toolbox.is_laid_out()) {
            return Ok(Arc::clone(laid_out));
        }
        // Spare folders may have been removed with it.
        processes.runner.discard_spare_folders();
        let shared = self.is_shared.load(Ordering::Relaxed);
        let laid_out = Toolbox::lay_out(&processes.state_dir, shared).map(Arc::new);
        *toolbox = laid_out.as_ref().ok().cloned();
        drop(toolbox);
        let was_missing = self.is_missing.swap(laid_out.is_err(), Ordering::Relaxed);
        laid_out.map_err(|error| {
            if !was_missing && let Some(report) = self.on_missing.get() {
                report(&error);
            }
            NoEnvironment::Sdk(error.to_string())
        })
    }

    /// Touches it, so that no cleaner of temporary files removes it for its age.
    pub(crate) fn refresh(&self) {
        // Missing files are written again when they are needed.
        self.toolbox.lock().take_if(|toolbox| toolbox.refresh().is_err());
    }
}
