//! Idle streams: open and silent.

use std::io;
use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Connection, HttpServer, Post};

/// Streams that stay open until this is dropped, each on its own connection.
#[derive(Debug)]
pub struct IdleStreams {
    _streams: Vec<TcpStream>,
    _room: Room,
}

impl IdleStreams {
    /// Opens so many listening requests of the stateless revision.
    pub fn listen(server: &HttpServer, count: u32) -> Result<Self, String> {
        Self::open(server, count, |connection, number| {
            connection.open_stream(&Post::listen(number), b"notifications/subscriptions/acknowledged")
        })
    }

    /// Opens so many sessions, each with its stream.
    pub fn sessions(server: &HttpServer, count: u32) -> Result<Self, String> {
        Self::open(server, count, |connection, _| {
            let session = connection.begin_session()?;
            connection.open_stream(&Post::open_stream(session.as_deref()), b"text/event-stream")
        })
    }

    fn open(
        server: &HttpServer,
        count: u32,
        begin: impl Fn(&mut Connection, u32) -> Result<(), String>,
    ) -> Result<Self, String> {
        server.begin_measure();
        let room = Room::for_descriptors(u64::from(count) + 100)
            .map_err(|error| format!("the driver may not open {count} connections: {error}"))?;
        let mut streams = Vec::new();
        for number in 1..=count {
            let failed = |what: String| format!("stream {number} of {count}: {what}");
            let mut connection = Connection::open(server).map_err(|error| failed(error.to_string()))?;
            begin(&mut connection, number).map_err(failed)?;
            streams.push(connection.into_stream());
        }
        Ok(Self { _streams: streams, _room: room })
    }
}

/// Raises the driver's descriptor limit, and restores it on drop: servers started later must not inherit it,
/// because users' servers do not have it.
#[derive(Debug)]
struct Room(Rlimit);

impl Room {
    fn for_descriptors(count: u64) -> io::Result<Self> {
        let before = getrlimit(Resource::Nofile);
        let current = before.current.map(|current| current.max(count));
        setrlimit(Resource::Nofile, Rlimit { current, maximum: before.maximum })?;
        Ok(Self(before))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Lowering always works.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: self.0.current, maximum: self.0.maximum });
    }
}
