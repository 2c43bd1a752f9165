//! The fleet: servers of one project with one database, each behind a link to its clients and a link to the database.

use super::audit::Requests;
use super::faults::FaultLog;
use super::ledger::{Ledger, Wrong};
use super::link::{Link, as_socket, lock};
use super::project;
use crate::audit;
use crate::http::Server;
use mcp_bash_postgres_server::Server as Database;
use rustix::process::Signal;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const SIZE: usize = 3;

/// The name of the token that all clients have.
pub(super) const CALLER: &str = "fleet";

/// How long before its end a server gets no new connections.
const NOTICE: Duration = Duration::from_secs(1);

/// The schema of the tables.
pub(super) const SCHEMA: &str = "fleet";

pub(super) struct Fleet {
    pub(super) places: Vec<Place>,
    pub(super) database: Mutex<Database>,
    pub(super) faults: FaultLog,
    pub(super) ledger: Ledger,
    /// Where clients connect: a proxy that sends each connection to the next server.
    pub(super) address: SocketAddr,
    /// Which server has the connection that a client made from an address.
    routes: Mutex<HashMap<SocketAddr, usize>>,
    next: AtomicUsize,
    last_id: AtomicU64,
    pub(super) requests: Requests,
    pub(super) binary: PathBuf,
    /// The program that servers are before their first restart, if it is another.
    older: Option<PathBuf>,
    folder: PathBuf,
    pub(super) token: String,
    pub(super) begun: Instant,
}

/// The place of a server, which may be a new process after each fault.
pub(super) struct Place {
    number: usize,
    server: Mutex<Option<Server>>,
    starts: AtomicUsize,
    /// Whether the proxy passes it by.
    is_out: AtomicBool,
    pub(super) front: Arc<Link>,
    pub(super) back: Arc<Link>,
    /// Where it finds the database.
    store: SocketAddr,
    /// Held by the fault that is active.
    pub(super) turn: Mutex<()>,
}

impl Fleet {
    /// Prepares everything in a folder and starts all servers.
    pub(super) fn start(binary: &Path, older: Option<&Path>, folder: &Path) -> io::Result<Arc<Self>> {
        project::write(folder)?;
        let token = crate::callers::new_token(binary, CALLER, &folder.join("tokens"))?;
        project::write_private(&folder.join("keys"), "1:b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQgb2xkIG9sZCA=\n")?;
        let database = Database::start();
        let socket = database.folder().join(".s.PGSQL.5432");
        let places = (0..SIZE).map(|number| Place::new(number, socket.clone())).collect::<io::Result<_>>()?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let fleet = Arc::new(Self {
            places,
            database: Mutex::new(database),
            faults: FaultLog::default(),
            ledger: Ledger::default(),
            address: listener.local_addr()?,
            routes: Mutex::default(),
            next: AtomicUsize::new(0),
            last_id: AtomicU64::new(0),
            requests: Requests::default(),
            binary: binary.to_owned(),
            older: older.map(Path::to_owned),
            folder: folder.to_owned(),
            token: format!("Bearer {token}"),
            begun: Instant::now(),
        });
        for place in &fleet.places {
            place.start(&fleet);
        }
        let proxy = Arc::clone(&fleet);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let fleet = Arc::clone(&proxy);
                thread::spawn(move || fleet.route(client));
            }
        });
        Ok(fleet)
    }

    /// Joins a client with the next server that takes the connection.
    fn route(&self, client: TcpStream) {
        let Ok(from) = client.peer_addr() else { return };
        for _ in &self.places {
            let place = &self.places[self.next.fetch_add(1, Ordering::Relaxed) % SIZE];
            let Some(address) = place.address().filter(|_| place.takes_clients()) else { continue };
            if let Ok(server) = TcpStream::connect(address) {
                lock(&self.routes).insert(from, place.number);
                place.front.join(as_socket(client), as_socket(server));
                return;
            }
        }
    }

    /// The server that has the connection from that address.
    pub(super) fn server_of(&self, client: SocketAddr) -> Option<usize> {
        lock(&self.routes).remove(&client)
    }

    /// The id of a request, which no other has.
    pub(super) fn new_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The servers that no fault has restarted, and that are not upgraded therefore.
    pub(super) fn not_upgraded(&self) -> Vec<usize> {
        let places = self.places.iter().filter(|_| self.older.is_some());
        places.filter(|place| place.starts.load(Ordering::Relaxed) < 2).map(|place| place.number).collect()
    }

    /// The audit log of all processes in one place.
    pub(super) fn audit_log(&self, place: usize) -> PathBuf {
        self.folder.join(format!("audit-{place}.jsonl"))
    }

    pub(super) fn journal(&self) -> PathBuf {
        project::journal(&self.folder)
    }

    /// What servers have left in their folders for temporary files.
    pub(super) fn files_left(&self) -> Vec<PathBuf> {
        let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let folders = entries(&self.folder.join("tmp")).map(|entry| entry.path()).collect::<Vec<_>>();
        folders.iter().flat_map(|folder| entries(folder).map(|entry| entry.path())).collect()
    }
}

impl Place {
    fn new(number: usize, socket: PathBuf) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (store, back) = (listener.local_addr()?, Arc::<Link>::default());
        let link = Arc::clone(&back);
        thread::spawn(move || {
            for server in listener.incoming().map_while(Result::ok) {
                if !link.refuses()
                    && let Ok(database) = UnixStream::connect(&socket)
                {
                    link.join(as_socket(server), database);
                }
            }
        });
        Ok(Self {
            number,
            server: Mutex::default(),
            starts: AtomicUsize::new(0),
            is_out: AtomicBool::new(false),
            front: Arc::default(),
            back,
            store,
            turn: Mutex::default(),
        })
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        lock(&self.server).as_ref().map(|server| server.address)
    }

    fn takes_clients(&self) -> bool {
        !self.is_out.load(Ordering::Acquire) && !self.front.refuses()
    }

    /// The processes of its calls.
    pub(super) fn scripts(&self) -> Vec<crate::proc::Process> {
        lock(&self.server).as_ref().map(Server::scripts).unwrap_or_default()
    }

    pub(super) fn start(&self, fleet: &Fleet) {
        let generation = self.starts.fetch_add(1, Ordering::Relaxed);
        let file = |name: &str| fleet.folder.join(name);
        let temporary = file("tmp").join(format!("{}-{generation}", self.number));
        let (tokens, keys) = (file("tokens"), file("keys"));
        let (number, port) = (self.number.to_string(), self.store.port());
        let store = format!("postgres://postgres@127.0.0.1:{port}/postgres?schema={SCHEMA}&sslmode=disable");
        let audited = audit::settings_of_short_run(&fleet.audit_log(self.number));
        let mut environment = vec![
            ("MCPBASH_STORE", &*store),
            ("MCPBASH_STATE_KEYS_FILE", keys.to_str().unwrap_or_default()),
            (project::SERVER_VARIABLE, &*number),
            ("MCPBASH_TOOL_ENV_ALLOWLIST", project::SERVER_VARIABLE),
            ("MCPBASH_MAX_TASKS_PER_CALLER", "1000000"),
            // A call that went on at another server leaves its script waiting for so long.
            ("MCPBASH_PARKED_TIMEOUT_SECS", "30"),
            ("MCPBASH_MAX_PROGRESS_PER_MIN", "0"),
            ("MCPBASH_HTTP_MAX_SESSIONS_PER_MIN", "0"),
            ("MCPBASH_AUDIT_DURABLE", "true"),
            // The words of calls are among them.
            ("MCPBASH_AUDIT_ARGUMENTS", "full"),
        ];
        environment.extend(audited.iter().map(|(name, value)| (*name, value.as_str())));
        let options = [OsStr::new("--tokens"), tokens.as_os_str()];
        let program = fleet.older.as_ref().filter(|_| generation == 0).unwrap_or(&fleet.binary);
        match Server::start(program, &project::root(&fleet.folder), &temporary, &options, &environment) {
            Ok(server) => {
                *lock(&self.server) = Some(server);
                self.is_out.store(false, Ordering::Release);
            }
            Err(error) => fleet.ledger.blame(Wrong::NotStarted, &format!("server {number}: {error}")),
        }
    }

    pub(super) fn kill(&self, fleet: &Fleet) {
        let Some(mut server) = lock(&self.server).take() else { return };
        server.signal(Signal::KILL);
        server.wait();
        fleet.ledger.look_at_log(&server.log());
    }

    /// Takes the server from the proxy, and lets it end in order.
    pub(super) fn stop(&self, fleet: &Fleet) {
        self.is_out.store(true, Ordering::Release);
        // As balancers do: the server is told when what was sent to it has arrived.
        thread::sleep(NOTICE);
        let Some(mut server) = lock(&self.server).take() else { return };
        server.signal(Signal::TERM);
        let status = server.wait();
        if status.is_none_or(|status| !status.success()) {
            let (number, state) = (self.number, server.describe());
            let details = format!("server {number} ended with {status:?}\n{state}");
            fleet.ledger.blame(Wrong::BadEnd, &details);
        }
        fleet.ledger.look_at_log(&server.log());
    }

    pub(super) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub(super) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(server) = &*lock(&self.server) {
            server.signal(signal);
        }
    }
}
