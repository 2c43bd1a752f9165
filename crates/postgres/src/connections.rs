//! Connections to the database: a few, made when they are needed, replaced when they break. A thread of their own drives
//! them, because callers block.

use crate::address::words;
use crate::availability::Availability;
use crate::migrations::{Found, KNOWN, migrate};
use crate::news::Listener;
use crate::tls::{Encrypted, Tls};
use crate::values::Values;
use crate::{Address, DatabaseError, news};
use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Client, Connection, Error, Row, Socket};

/// The most connections of one server.
const MOST: usize = 8;

/// How long an operation may take, with all its attempts.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);

/// How long one may take whose request can come again.
pub(crate) const LONGEST_IN_REQUEST: Duration = Duration::from_secs(3);

/// How long one connection may take to be made.
const LONGEST_CONNECT: Duration = Duration::from_secs(3);

/// The part of its time that an operation gives to a connection that was idle. The network may have cut it off without a word.
const PART_FOR_IDLE: u32 = 3;

/// The pause before the first new attempt. It doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Connections {
    shared: Arc<Shared>,
    handle: Handle,
    /// Ends the thread when it is dropped.
    _end: oneshot::Sender<()>,
}

pub(crate) struct Shared {
    address: Address,
    tls: Tls,
    idle: Mutex<Vec<Client>>,
    places: Semaphore,
    /// Whether the tables are known to be there.
    is_migrated: AtomicBool,
    availability: Availability,
    listeners: Mutex<Vec<Listener>>,
}

/// Why one attempt failed.
pub(crate) enum Failure {
    /// The connection: another one may be better.
    Connection(String),
    Final(DatabaseError),
}

impl Connections {
    pub(crate) fn start(address: Address) -> Result<Self, DatabaseError> {
        let tls = Tls::new(&address)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(DatabaseError::Thread)?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let run = move || drop(runtime.block_on(ended));
        thread::Builder::new().name("store".to_owned()).spawn(run).map_err(DatabaseError::Thread)?;
        let shared = Shared {
            address,
            tls,
            idle: Mutex::default(),
            places: Semaphore::new(MOST),
            is_migrated: AtomicBool::new(false),
            availability: Availability::default(),
            listeners: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared), handle, _end: end })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.shared.address
    }

    pub(crate) fn availability(&self) -> &Availability {
        &self.shared.availability
    }

    /// Runs a statement and blocks until it has its rows. It is begun again on another connection if its own breaks, so it
    /// must not matter whether it was done once or twice.
    pub(crate) fn query(
        &self,
        longest: Duration,
        operation: &'static str,
        statement: &str,
        values: Values,
    ) -> Result<Vec<Row>, DatabaseError> {
        let (sender, receiver) = sync_channel(1);
        self.begin(operation, statement, values, longest, move |rows| drop(sender.send(rows)));
        receiver.recv().unwrap_or(Err(DatabaseError::Ended))
    }

    /// The same for a request, which blocks no thread.
    pub(crate) async fn query_in_request(
        &self,
        longest: Duration,
        operation: &'static str,
        statement: &str,
        values: Values,
    ) -> Result<Vec<Row>, DatabaseError> {
        let (sender, receiver) = oneshot::channel();
        self.begin(operation, statement, values, longest, move |rows| drop(sender.send(rows)));
        receiver.await.unwrap_or(Err(DatabaseError::Ended))
    }

    fn begin(
        &self,
        operation: &'static str,
        statement: &str,
        values: Values,
        longest: Duration,
        give: impl FnOnce(Result<Vec<Row>, DatabaseError>) + Send + 'static,
    ) {
        let shared = Arc::clone(&self.shared);
        let statement = shared.of_schema(statement);
        self.handle.spawn(async move { give(shared.query(operation, &statement, &values, longest).await) });
    }

    /// Tells the listener the news of other servers. All listeners share a connection.
    pub(crate) fn follow(&self, listener: Listener) {
        let mut listeners = self.shared.listeners.lock();
        listeners.push(listener);
        if listeners.len() == 1 {
            self.handle.spawn(news::follow(Arc::downgrade(&self.shared)));
        }
    }

    /// Runs a statement that nobody waits for, and whose failure does no harm.
    pub(crate) fn query_later(&self, operation: &'static str, statement: &str, values: Values) {
        self.begin(operation, statement, values, LONGEST, drop);
    }
}

impl Shared {
    /// A statement for the schema of this store.
    fn of_schema(&self, statement: &str) -> String {
        statement.replace("{s}", &self.address.schema).replace("{channel}", &self.channel())
    }

    async fn query(
        &self,
        operation: &'static str,
        statement: &str,
        values: &Values,
        longest: Duration,
    ) -> Result<Vec<Row>, DatabaseError> {
        let until = Instant::now() + longest;
        let too_slow = |problem| self.too_slow(operation, longest, problem);
        let mut pause = FIRST_PAUSE;
        let mut problem = None;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match timeout(left, self.attempt(operation, statement, values, longest)).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(Failure::Final(error))) => return Err(error),
                Ok(Err(Failure::Connection(words))) => problem = Some(words),
                Err(_) => return Err(too_slow(problem)),
            }
            if Instant::now() + pause >= until {
                return Err(too_slow(problem));
            }
            sleep(jittered(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn too_slow(&self, operation: &'static str, longest: Duration, problem: Option<String>) -> DatabaseError {
        let place = self.address.to_string();
        match problem {
            Some(problem) => DatabaseError::Unreachable { place, problem },
            None => DatabaseError::Slow { place, operation, seconds: longest.as_secs() },
        }
    }

    /// One attempt on one connection, which goes back to the others if it is sound. One whose attempt is cut off is dropped.
    async fn attempt(
        &self,
        operation: &'static str,
        statement: &str,
        values: &Values,
        longest: Duration,
    ) -> Result<Vec<Row>, Failure> {
        let Ok(_place) = self.places.acquire().await else {
            return Err(Failure::Final(DatabaseError::Ended));
        };
        let idle = self.idle.lock().pop().filter(|client| !client.is_closed());
        let (client, patience) = match idle {
            Some(client) => (client, longest / PART_FOR_IDLE),
            None => (self.connect().await?, longest),
        };
        let rows = timeout(patience, client.query_typed(statement, &values.borrowed())).await;
        let Ok(rows) = rows else {
            // The others were idle for longer.
            self.idle.lock().clear();
            return Err(Failure::Connection("a connection does not answer any more".to_owned()));
        };
        let is_closed = client.is_closed();
        if !is_closed {
            self.idle.lock().push(client);
        }
        rows.map_err(|error| self.failure(operation, is_closed, &error))
    }

    pub(crate) fn tell(&self, news: &str) {
        for listener in &*self.listeners.lock() {
            listener(news);
        }
    }

    /// The channel for news of this store.
    pub(crate) fn channel(&self) -> String {
        format!("{}_changes", self.address.schema)
    }

    /// A new connection, which somebody has to drive.
    pub(crate) async fn open(&self) -> Result<(Client, Connection<Socket, Encrypted<Socket>>), Failure> {
        let connecting = self.address.config.connect(self.tls.clone());
        let connected = match timeout(LONGEST_CONNECT, connecting).await {
            Ok(connected) => connected.map_err(|error| self.failure("connect", true, &error)),
            Err(_) => Err(Failure::Connection("it does not answer".to_owned())),
        };
        match &connected {
            Ok(_) => self.availability.note_connected(),
            Err(Failure::Connection(problem)) => self.availability.note_failure(problem.clone()),
            Err(Failure::Final(error)) => self.availability.note_failure(error.to_string()),
        }
        connected
    }

    async fn connect(&self) -> Result<Client, Failure> {
        let (mut client, connection) = self.open().await?;
        tokio::spawn(connection);
        if !self.is_migrated.load(Ordering::Relaxed) {
            let found = migrate(&mut client, &self.address.schema).await;
            match found.map_err(|error| self.failure("make its tables", client.is_closed(), &error))? {
                Found::Usable => self.is_migrated.store(true, Ordering::Relaxed),
                Found::TooNew(found) => {
                    let place = self.address.to_string();
                    return Err(Failure::Final(DatabaseError::Newer { place, found, known: KNOWN }));
                }
            }
        }
        Ok(client)
    }

    /// A database that is stopping, starting or in recovery, or has no connection left, is one to try again.
    fn failure(&self, operation: &'static str, is_closed: bool, error: &Error) -> Failure {
        let is_passing = match error.code() {
            Some(code) => {
                matches!(code.code(), "57P01" | "57P02" | "57P03" | "53300" | "40001" | "40P01" | "25006")
            }
            None => is_closed || error.is_closed(),
        };
        let problem = words(error);
        if is_passing {
            return Failure::Connection(problem);
        }
        Failure::Final(DatabaseError::Refused { place: self.address.to_string(), operation, problem })
    }
}

/// Between half of the pause and all of it, so that servers that lost the database at once do not return at once.
pub(crate) fn jittered(pause: Duration) -> Duration {
    let mut byte = [0];
    let _ = SystemRandom::new().fill(&mut byte);
    pause / 2 + pause / 2 * u32::from(byte[0]) / 255
}
