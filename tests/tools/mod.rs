//! Tools that are scripts: their arguments, environment, results and failures; workers and providers.

mod arguments;
mod bash_mcp;
mod consent;
mod defaults;
mod descriptors;
mod environment;
mod exit_codes;
mod failures;
mod hostile_scripts;
mod providers;
mod results;
mod sandbox_meta;
mod schemas;
mod sdk;
mod shared_sdk;
mod timeouts;
mod toolbox;
mod traps;
mod values_as_code;
mod variables;
pub(crate) mod workers;
mod workers_hostile;
