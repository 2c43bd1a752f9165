//! Client certificates: those of the authority name their caller, all others end the handshake.

use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, wait_until};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer, KeyIdMethod,
    KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: CertificateDer<'static>,
}

/// A certificate and its key.
pub(super) type Shown = (CertificateDer<'static>, KeyPair);

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let made = parameters.self_signed(&key).unwrap();
        Self { pem: made.pem(), der: made.der().clone(), issuer: Issuer::new(parameters, key) }
    }

    pub(super) fn issue(
        &self,
        name: &str,
        serial: u64,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Shown {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.distinguished_name.push(DnType::OrganizationalUnitName, "ops");
        parameters.serial_number = Some(SerialNumber::from(serial));
        change(&mut parameters);
        let key = KeyPair::generate().unwrap();
        (parameters.signed_by(&key, &self.issuer).unwrap().der().clone(), key)
    }

    fn revocations(&self, serial: u64) -> String {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(2100, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

/// A server with TLS that asks for certificates of the authority, and the port it listens on.
pub(super) struct Stage {
    pub(super) authority: Authority,
    folder: tempfile::TempDir,
    server: HttpServer,
}

impl Stage {
    fn new(settings: &[(&str, &str)]) -> Self {
        let project = Project::new().tool("who", "#!/bin/sh\necho \"$MCP_CALLER\" $MCP_CALLER_GROUPS\n");
        Self::of(project, settings)
    }

    pub(super) fn of(project: Project, settings: &[(&str, &str)]) -> Self {
        let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
        let (certificate, key) = authority.issue("server", 1, |_| {});
        let pem = pem(&certificate);
        let files = [
            write(folder.path(), "ca.pem", &authority.pem),
            write(folder.path(), "cert.pem", &pem),
            write(folder.path(), "key.pem", &key.serialize_pem()),
            write(folder.path(), "crl.pem", &authority.revocations(7)),
        ];
        let [ca, cert, key, crl] = files.each_ref().map(|path| path.to_str().unwrap());
        let settings = [&[("MCPBASH_HTTP_CLIENT_CRL", crl)], settings].concat();
        let log = folder.path().join("audit.jsonl");
        let audit = log.to_str().unwrap();
        let arguments = ["--client-ca", ca, "--tls-cert", cert, "--tls-key", key, "--audit", audit];
        let server = HttpServer::start_with(&project.into_folder(), &arguments, &settings);
        Self { authority, folder, server }
    }

    fn who(&self, shown: Option<&Shown>, headers: &[(&str, &str)]) -> io::Result<(u16, String)> {
        self.call("who", shown, headers)
    }

    /// Calls a tool over a connection with that certificate: status and text of the response.
    pub(super) fn call(
        &self,
        tool: &str,
        shown: Option<&Shown>,
        headers: &[(&str, &str)],
    ) -> io::Result<(u16, String)> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match shown {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
                config.with_client_auth_cert(vec![certificate.clone()], key).unwrap()
            }
        };
        let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
        let mut stream = StreamOwned::new(connection, TcpStream::connect(self.server.address())?);
        let headers = [headers, &[("Connection", "close")]].concat();
        let params = json!({ "name": tool, "arguments": {} });
        stream.write_all(&stateless_with(&headers, 1, "tools/call", &params))?;
        let mut text = String::new();
        match stream.read_to_string(&mut text) {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
            _ => {}
        }
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((status.ok_or(io::ErrorKind::UnexpectedEof)?, text))
    }
}

impl Stage {
    /// Ends the server: the records of its audit log.
    pub(super) fn records(self) -> Vec<Value> {
        let Self { folder, server, .. } = self;
        server.finish();
        let text = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Why clients were not let in, as the audit log has it.
    fn failed_logins(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("audit.jsonl")).unwrap_or_default();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let failed = records.filter(|record| record["event.name"] == "mcp.login.failed");
        failed
            .map(|record| {
                assert_eq!(
                    (&record["outcome"], &record["client.address"]),
                    (&json!("refused"), &json!("127.0.0.1"))
                );
                record["error.type"].as_str().unwrap().to_owned()
            })
            .collect()
    }
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(certificate);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

#[test]
fn a_certificate_of_the_authority_names_its_caller() {
    let stage = Stage::new(&[]);
    let alice = stage.authority.issue("alice", 2, |_| {});
    let (status, text) = stage.who(Some(&alice), &[]).unwrap();
    assert!(status == 200 && text.contains("certificate alice ops"), "{text}");
    // No certificate, one of another authority, one that has expired, one that was revoked.
    let stranger = Authority::new().issue("alice", 2, |_| {});
    let expired = stage.authority.issue("alice", 3, |made| made.not_after = date_time_ymd(2020, 1, 1));
    let revoked = stage.authority.issue("alice", 7, |_| {});
    for (what, shown) in [
        ("none", None),
        ("stranger", Some(&stranger)),
        ("expired", Some(&expired)),
        ("revoked", Some(&revoked)),
    ] {
        assert!(stage.who(shown, &[]).is_err(), "{what}");
    }
    wait_until("the lines", || (stage.failed_logins() == ["certificate"; 4]).then_some(()));
    let log = wait_until("the warnings", || {
        let log = stage.server.log();
        (log.matches("a client certificate was refused").count() == 4).then_some(log)
    });
    assert!(log.contains("Revoked") && log.contains("BadSignature"), "{log}");
    // One without a name of the kind that is used.
    let nameless = stage.authority.issue("", 4, |_| {});
    assert_eq!(stage.who(Some(&nameless), &[]).unwrap().0, 403);
    let two = stage.authority.issue("alice\nroot", 5, |_| {});
    assert_eq!(stage.who(Some(&two), &[]).unwrap().0, 403);
    assert!(stage.folder.path().exists());
}

#[test]
fn another_part_of_the_certificate_may_name_the_caller_and_a_proxy_may_show_one() {
    let stage = Stage::new(&[
        ("MCPBASH_HTTP_CLIENT_NAME", "dns"),
        ("MCPBASH_HTTP_CLIENT_CERTS", "optional"),
        ("MCPBASH_HTTP_PROXY_HEADER", "X-Forwarded-User"),
        ("MCPBASH_HTTP_PROXY_CERTIFICATES", "proxy.example"),
    ]);
    let issue = |name: &str, serial| {
        let name = name.to_owned();
        stage.authority.issue("cn", serial, |made| {
            made.subject_alt_names = vec![rcgen::SanType::DnsName(name.try_into().unwrap())];
        })
    };
    let (alice, proxy) = (issue("alice.example", 2), issue("proxy.example", 3));
    let (status, text) = stage.who(Some(&alice), &[]).unwrap();
    assert!(status == 200 && text.contains("certificate alice.example ops"), "{text}");
    let named = [("X-Forwarded-User", "bob")];
    let (status, text) = stage.who(Some(&proxy), &named).unwrap();
    assert!(status == 200 && text.contains("proxy bob"), "{text}");
    // The proxy has to name someone, and no one else may.
    assert_eq!(stage.who(Some(&proxy), &[]).unwrap().0, 403);
    assert_eq!(stage.who(Some(&alice), &named).unwrap().0, 403);
    // Without a certificate the connection is open, and there is nothing else to know the caller by.
    assert_eq!(stage.who(None, &[]).unwrap().0, 403);
    assert_eq!(stage.who(None, &named).unwrap().0, 403);
}

#[test]
fn a_flood_of_failed_handshakes_leaves_a_few_lines() {
    let stage = Stage::new(&[]);
    let stranger = Authority::new().issue("alice", 2, |_| {});
    for _ in 0..30 {
        assert!(stage.who(Some(&stranger), &[]).is_err());
    }
    let alice = stage.authority.issue("alice", 2, |_| {});
    assert_eq!(stage.who(Some(&alice), &[]).unwrap().0, 200, "a good certificate is let in, also from there");
    let failed: Vec<Value> =
        stage.records().into_iter().filter(|record| record["error.type"] == "certificate").collect();
    let counts: Vec<u64> = failed.iter().filter_map(|record| record["event.count"].as_u64()).collect();
    let lines = failed.len() - counts.len();
    assert!(!counts.is_empty() && lines <= 10 * (counts.len() + 1), "{failed:?}");
    assert_eq!(lines as u64 + counts.iter().sum::<u64>(), 30);
}
