//! Who is let in, and over which connection.

use super::{open, record};
use mcp_bash_postgres::{Address, Postgres};
use mcp_bash_postgres_server::Server;
use mcp_bash_tasks::TaskStore;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Writes an authority, and a certificate of it for `localhost`.
fn write_certificates(folder: &Path) {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = authority.self_signed(&authority_key).unwrap();
    fs::write(folder.join("authority.pem"), own.pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    fs::write(folder.join("server.pem"), certificate.pem()).unwrap();
    let path = folder.join("server.key");
    fs::write(&path, key.serialize_pem()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    // Root runs the server as nobody.
    let _ = chown(&path, Some(65534), Some(65534));
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}

fn check(url: &str, password: Option<&str>) -> Result<(), String> {
    let store = Address::parse(url, password).and_then(Postgres::new);
    store.and_then(|store| store.check()).map_err(|error| error.to_string())
}

#[test]
fn a_password_crosses_only_a_connection_whose_certificate_is_right() {
    let folder = tempfile::Builder::new().prefix("pgtls").tempdir_in("/tmp").unwrap();
    write_certificates(folder.path());
    let (port, path) = (free_port(), folder.path().display());
    let options = [
        format!("port={port}"),
        "listen_addresses=localhost".to_owned(),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={path}/server.pem"),
        format!("ssl_key_file={path}/server.key"),
        "password_encryption=scram-sha-256".to_owned(),
    ];
    let mut server = Server::start_with_port(port, &options.each_ref().map(|option| &**option));
    server.query("CREATE ROLE safe LOGIN SUPERUSER PASSWORD 'correct horse'");
    server.allow_only("hostssl all safe all scram-sha-256");
    let trusted = format!(
        "postgres://safe@localhost:{port}/postgres?sslmode=verify-full&sslrootcert={path}/authority.pem"
    );
    check(&trusted, Some("correct horse")).unwrap();
    let error = check(&trusted, Some("wrong")).unwrap_err();
    assert!(error.contains("password authentication failed"), "{error}");
    // The certificate is not of an authority of this system, and its name is not an address.
    let unknown = format!("postgres://safe@localhost:{port}/postgres?sslmode=require");
    let error = check(&unknown, Some("correct horse")).unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    let error = check(&trusted.replace("@localhost", "@127.0.0.1"), Some("correct horse")).unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    let plain = format!("postgres://safe@localhost:{port}/postgres?sslmode=disable");
    let error = check(&plain, Some("correct horse")).unwrap_err();
    assert!(error.contains("no encryption") && !error.contains("horse"), "{error}");
    for (name, content) in
        [("missing.pem", None), ("empty.pem", Some("")), ("nonsense.pem", Some("nonsense"))]
    {
        let file = folder.path().join(name);
        if let Some(content) = content {
            fs::write(&file, content).unwrap();
        }
        let error = check(&trusted.replace("authority.pem", name), None).unwrap_err();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_database_that_is_not_there_is_named_without_its_password() {
    let port = free_port();
    let error =
        check(&format!("postgres://me:hunter22@127.0.0.1:{port}/team?sslmode=disable"), None).unwrap_err();
    assert!(error.contains(&format!("127.0.0.1:{port}/team")) && error.contains("refused"), "{error}");
    assert!(!error.contains("hunter22"), "{error}");
}

#[test]
fn a_restart_of_the_database_costs_no_operation() {
    let mut server = Server::start();
    let store = open(&server.url("restarted"));
    store.check().unwrap();
    server.kill();
    std::thread::scope(|scope| {
        let kept = scope.spawn(|| store.create(&record(1), None).map(std::mem::forget));
        server.start_again();
        kept.join().unwrap().unwrap();
    });
    assert!(TaskStore::get(&store, &record(1).id).unwrap().is_some());
}
