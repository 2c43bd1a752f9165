//! Session table tests: the session limit and idle sessions, with paused time.

use super::*;
use crate::http::streams::events::SESSION_STREAM;
use mcp_bash_project::{Catalog, Paths};
use mcp_bash_runner::{Runner, StateDir};
use mcp_bash_scripts::Scripts;
use mcp_bash_server::{Identity, KnownBy, Log, Style};
use mcp_bash_settings::Settings;
use mcp_bash_wire::LogLevel;
use tokio::runtime::Handle;
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);

struct Scene {
    sessions: Sessions,
    server: Arc<Server>,
    rules: Arc<Rules>,
    _folder: tempfile::TempDir,
}

impl Scene {
    fn new(most: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state_dir = Arc::new(StateDir::new(folder.path().to_owned(), false));
        let runner = Runner::new(Arc::clone(&state_dir));
        let (settings, _) = Settings::read(|_| None);
        let scripts = Arc::new(Scripts::with_runner(runner, settings, state_dir, Handle::current()));
        let paths = Paths::of(folder.path());
        let reading = scripts.reading(&paths);
        let catalog = Catalog::read(&paths, &reading);
        let log = Log::new(LogLevel::Emergency, Style::Json);
        let server = Arc::new(Server::new(scripts, Handle::current(), catalog, reading, log));
        let sessions = Sessions::new(&Limits { sessions: most, ..Limits::default() }, None);
        Self { sessions, rules: Rules::of(&server), server, _folder: folder }
    }

    fn begin(&self, principal: &Arc<Principal>) -> Result<Arc<Session>, NoSession> {
        let session = self.sessions.prepare(&self.server, &self.rules, principal, b"{}")?;
        self.sessions.enter(&session);
        Ok(session)
    }

    fn principal(&self, name: &str) -> Arc<Principal> {
        Arc::new(self.server.principal(Arc::new(Identity::new(name, KnownBy::Token)), None))
    }

    fn is_there(&self, session: &Session) -> bool {
        self.sessions.table.lock().by_id.contains_key(&session.id)
    }

    fn looks(&self) -> usize {
        self.sessions.table.lock().looks
    }
}

#[tokio::test(start_paused = true)]
async fn beginning_a_session_costs_the_same_however_many_there_are() {
    let scene = Scene::new(10_000);
    let (flood, modest) = (scene.principal("flood"), scene.principal("modest"));
    let first = scene.begin(&modest).unwrap();
    for _ in 1..10_000 {
        scene.begin(&flood).unwrap();
    }
    assert_eq!((scene.sessions.count(), scene.looks()), (10_000, 0));
    for _ in 0..1000 {
        scene.begin(&flood).unwrap();
    }
    assert_eq!((scene.sessions.count(), scene.looks()), (10_000, 1000), "one look each");
    assert!(scene.is_there(&first), "the one who has the most makes room");
    scene.begin(&modest).unwrap();
    assert!(scene.is_there(&first));
}

#[tokio::test(start_paused = true)]
async fn the_one_that_was_used_least_lately_goes_and_none_that_is_in_use() {
    let scene = Scene::new(4);
    let principal = scene.principal("a");
    let mut begun = Vec::new();
    for _ in 0..4 {
        begun.push(scene.begin(&principal).unwrap());
        advance(SECOND).await;
    }
    for used in [2, 0, 3] {
        scene.sessions.get(&begun[used].id, &principal.caller).unwrap();
        advance(SECOND).await;
    }
    let there = || begun.iter().map(|session| scene.is_there(session)).collect::<Vec<_>>();
    let fifth = scene.begin(&principal).unwrap();
    assert_eq!(there(), [true, false, true, true]);
    let stream = begun[2].session_events();
    let sixth = scene.begin(&principal).unwrap();
    assert_eq!(there(), [false, false, true, true], "somebody reads the third");
    let streams: Vec<_> = [&begun[3], &fifth, &sixth].map(|session| session.session_events()).into();
    assert_eq!(scene.begin(&principal).map(|_| ()), Err(NoSession::Full));
    drop((stream, streams));
    assert!(scene.begin(&principal).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_search_ends_though_all_were_used_since_it_was_last_looked() {
    let (scene, most) = (Scene::new(1000), 1000);
    let principal = scene.principal("a");
    let begun: Vec<_> = (0..most).map(|_| scene.begin(&principal).unwrap()).collect();
    advance(SECOND).await;
    for session in &begun {
        session.note_use();
    }
    scene.begin(&principal).unwrap();
    assert_eq!(scene.looks(), LOOKS);
    let in_use: Vec<_> = begun.iter().filter(|session| scene.is_there(session)).collect();
    let _streams: Vec<_> = in_use.iter().map(|session| session.session_events()).collect();
    let before = scene.looks();
    // One session is not in use. Sessions in use move behind it, a few at each try, until it is found.
    let mut tries = 0;
    while scene.begin(&principal).is_err() {
        tries += 1;
        assert!(tries <= most / LOOKS + 1, "{tries}");
        advance(Duration::from_millis(1)).await;
    }
    assert!(scene.looks() - before <= most + 2 * LOOKS, "{}", scene.looks() - before);
}

#[tokio::test(start_paused = true)]
async fn idle_sessions_expire() {
    let scene = Scene::new(10_000);
    let principal = scene.principal("a");
    let begun: Vec<_> = (0..1000).map(|_| scene.begin(&principal).unwrap()).collect();
    let stream = begun[7].session_events();
    advance(scene.sessions.idle_timeout / 2).await;
    scene.sessions.get(&begun[8].id, &principal.caller).unwrap();
    advance(scene.sessions.idle_timeout / 2).await;
    scene.sessions.expire();
    let left: Vec<_> = begun.iter().map(|session| scene.is_there(session)).collect();
    assert_eq!((scene.sessions.count(), left[7], left[8]), (2, true, true));
    assert!(begun[9].has_ended() && begun[9].buffer(&scene.rules).number > Some(SESSION_STREAM));
    drop(stream);
}
