//! Store place: the database or the folder where a project stores what outlives its server: named by the operator, or one
//! folder per project.

use super::location::default_task_folder;
use crate::logging::Log;
use crate::stores::Store;
use mcp_bash_audit::ChainStore;
use mcp_bash_postgres::{Address, DatabaseError, Postgres};
use mcp_bash_runner::StateDir;
use mcp_bash_settings::{TaskSettings, names_database};
use mcp_bash_tasks::{FolderStore, TaskStore};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub enum StorePlace {
    Folder(PathBuf),
    Database(Box<Address>),
}

impl StorePlace {
    /// The place for a project. `None` if the operator names none and the user has no home.
    pub fn of(settings: &TaskSettings, project: &Path) -> Result<Option<Self>, DatabaseError> {
        match &settings.store {
            Some(named) => Self::named(named).map(Some),
            None => Ok(default_task_folder(project).map(Self::Folder)),
        }
    }

    /// The place that an operator names: a folder, or the address of a database.
    pub fn named(place: &Path) -> Result<Self, DatabaseError> {
        let Some(address) = place.to_str().filter(|_| names_database(place)) else {
            return Ok(Self::Folder(place.to_owned()));
        };
        let password = std::env::var("PGPASSWORD").ok();
        Address::parse(address, password.as_deref()).map(|address| Self::Database(Box::new(address)))
    }

    /// The task store at this place. Nothing is opened yet.
    pub fn tasks(self) -> Result<Arc<dyn TaskStore>, DatabaseError> {
        Ok(match self {
            Self::Folder(folder) => Arc::new(FolderStore::new(folder)),
            Self::Database(address) => Arc::new(Postgres::new(*address)?),
        })
    }

    /// The audit logs at this place. `None` if it is a folder, which has none.
    pub fn audit_logs(self) -> Result<Option<Arc<dyn ChainStore>>, DatabaseError> {
        Ok(match self {
            Self::Folder(_) => None,
            Self::Database(address) => Some(Arc::new(Postgres::new(*address)?)),
        })
    }
}

/// The task store, if there is a place for one, and the store of everything else that later requests need. An unusable database
/// is reported, and the server continues without it.
pub(crate) fn open_stores(
    settings: &TaskSettings,
    project: &Path,
    state_dir: &Arc<StateDir>,
    log: &Log,
) -> (Option<Arc<dyn TaskStore>>, Arc<Store>) {
    let store = |database| Arc::new(Store::new(Arc::clone(state_dir), database));
    let opened = StorePlace::of(settings, project).and_then(|place| match place {
        Some(StorePlace::Database(address)) => Ok((None, Some(Postgres::new(*address)?))),
        Some(StorePlace::Folder(folder)) => Ok((Some(FolderStore::new(folder)), None)),
        None => Ok((None, None)),
    });
    match opened {
        Ok((_, Some(database))) => (Some(Arc::new(database.clone())), store(Some(database))),
        Ok((folder, None)) => (folder.map(|folder| Arc::new(folder) as Arc<dyn TaskStore>), store(None)),
        Err(error) => {
            let details = json!({ "error": error.to_string() });
            log.event(LogLevel::Error, "mcp.tasks", "the store cannot be used", &details);
            (None, store(None))
        }
    }
}
