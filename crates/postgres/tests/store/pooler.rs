//! PgBouncer in transaction mode: every transaction may get another connection.

use super::{open, record, wait};
use mcp_bash_audit::{ChainStore, Order, Position};
use mcp_bash_postgres_server::Server;
use mcp_bash_tasks::{Claim, Note, TaskStore};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Pooler {
    process: Child,
    folder: tempfile::TempDir,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Pooler {
    fn start(server: &Server) -> Self {
        let folder = tempfile::Builder::new().prefix("pgb").tempdir_in("/tmp").unwrap();
        let path = folder.path();
        fs::write(path.join("users"), "\"postgres\" \"\"\n").unwrap();
        let settings = format!(
            "[databases]\npostgres = host={} dbname=postgres\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {}\n\
             listen_port = 5432\nauth_type = any\nauth_file = {}/users\npool_mode = transaction\n\
             default_pool_size = 2\nserver_reset_query = DISCARD ALL\nserver_reset_query_always = 1\n",
            server.folder().display(),
            path.display(),
            path.display(),
        );
        fs::write(path.join("settings"), settings.replace("auth_type = any", "auth_type = trust")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new("/usr/sbin/pgbouncer");
        if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            chown(path, Some(65534), Some(65534)).unwrap();
            command.uid(65534).gid(65534);
        }
        let process = command.arg(path.join("settings")).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let pooler = Self { process: process.expect("pgbouncer starts"), folder };
        let until = Instant::now() + Duration::from_secs(30);
        while !pooler.folder.path().join(".s.PGSQL.5432").exists() {
            assert!(Instant::now() < until, "PgBouncer does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        pooler
    }
}

#[test]
fn every_operation_works_through_a_pooler_of_transactions() {
    let server = Server::start();
    let pooler = Pooler::start(&server);
    let url =
        format!("postgres:///postgres?host={}&user=postgres&sslmode=disable", pooler.folder.path().display());
    let (one, other) = (open(&url), open(&url));
    let task = record(1);
    let lease = one.create(&task, Some("{}")).unwrap();
    assert!(matches!(other.claim(&task.id).unwrap(), Claim::Held));
    other.post(&task.id, &Note::Cancel).unwrap();
    assert_eq!(one.notes(&task.id, 0).unwrap().0, [Note::Cancel]);
    one.renew(&lease).unwrap();
    one.complete(&lease, &mut task.clone(), "x".repeat(100_000)).unwrap();
    assert!(other.sweep(0, 10).unwrap().is_whole);
    assert!(wait(one.use_once([1; 16], u64::from(u32::MAX))).unwrap());
    assert!(!wait(other.use_once([1; 16], u64::from(u32::MAX))).unwrap());
    for _ in 0..2 {
        ChainStore::add(&one, "a", 1, vec!["{}".to_owned()]).unwrap();
    }
    assert_eq!(ChainStore::read(&other, Order::Chain, &Position::default()).unwrap().len(), 1);
    // Connections that the pooler drops are replaced.
    drop(pooler);
}
