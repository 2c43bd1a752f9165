//! What `server.d/server.meta.json` says about how the project is served: its settings, and the variables that its scripts
//! need. Who the server says it is, is read by `identity`, which also tells of a file that cannot be read.

use crate::ground::json::LONGEST;
use crate::{Diagnostic, Paths, declarations::variable_names, trust};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerConfig {
    /// Settings by their names, as they stand there.
    pub settings: Map<String, Value>,
    /// The variables that all scripts of the project need.
    pub variables: Vec<String>,
}

/// What stands there of it.
#[derive(Deserialize)]
pub(crate) struct Written {
    settings: Option<Value>,
    env: Option<Box<RawValue>>,
}

impl ServerConfig {
    /// Reads it. It decides how scripts are run, so it is not used where others may have written it.
    pub fn read(paths: &Paths, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let path = paths.server.join("server.meta.json");
        let Ok((file, judged)) = trust::open_and_judge(&path, &paths.root) else { return Self::default() };
        let Ok(text) = mcp_bash_files::read_all_text(&file, LONGEST) else { return Self::default() };
        let text = text.trim_start_matches('\u{feff}');
        let Ok(written) = serde_json::from_str::<Written>(text) else { return Self::default() };
        if written.settings.is_none() && written.env.is_none() {
            return Self::default();
        }
        if let Err(distrust) = judged.and_then(|()| trust::judge_folder(&paths.server, &paths.root)) {
            let problem = format!("its `settings` and `env` are ignored: {distrust}");
            diagnostics.push(Diagnostic::new(path, problem));
            return Self::default();
        }
        let mut problems = Vec::new();
        let variables = variable_names::read(written.env.as_deref(), &mut problems);
        let settings = match written.settings {
            Some(Value::Object(settings)) => settings,
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                problems.push("`settings` is ignored: it must be an object".to_owned());
                Map::new()
            }
        };
        diagnostics.extend(problems.into_iter().map(|problem| Diagnostic::new(&path, problem)));
        Self { settings, variables }
    }
}
