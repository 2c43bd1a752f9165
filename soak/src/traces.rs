//! Trace files of processes too short-lived to be seen in the process table. Each is named after its call.

use crate::run::Run;
use crate::word::Word;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The last trace of the processes of a call.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) word: Word,
    /// How long ago that was.
    pub(crate) age: Duration,
    file: PathBuf,
}

impl Trace {
    pub(crate) fn all(run: &Run) -> Vec<Self> {
        let files = fs::read_dir(&run.traces).into_iter().flatten().flatten();
        let traces = files.filter_map(|file| {
            let word = *Word::all_in(file.file_name().as_encoded_bytes()).first()?;
            let written = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
            // The clock of the file system can be slightly ahead of ours.
            Some(Self { word, age: written.elapsed().unwrap_or_default(), file: file.path() })
        });
        traces.collect()
    }

    pub(crate) fn of_server(run: &Run, number: u32) -> Vec<Self> {
        Self::all(run).into_iter().filter(|trace| trace.word.server == number).collect()
    }

    pub(crate) fn remove(self) {
        // The folder of the run is removed anyway.
        let _ = fs::remove_file(self.file);
    }
}
