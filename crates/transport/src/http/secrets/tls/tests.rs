//! TLS tests: renewed certificates and client certificates, in real handshakes.

use super::*;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedKey, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
    generate_simple_self_signed,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::{ClientConfig, HandshakeKind};

struct Files {
    folder: tempfile::TempDir,
    reported: Arc<Mutex<Vec<String>>>,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), reported: Arc::default() }
    }

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    fn write(&self, made: &CertifiedKey<KeyPair>) {
        fs::write(self.certificate(), made.cert.pem()).unwrap();
        self.write_key(&made.signing_key.serialize_pem());
    }

    fn write_key(&self, text: &str) {
        fs::write(self.key(), text).unwrap();
        fs::set_permissions(self.key(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn open(&self) -> Result<Tls, TlsError> {
        self.open_for(None)
    }

    fn open_for(&self, clients: Option<ClientCertificates>) -> Result<Tls, TlsError> {
        let reported = Arc::clone(&self.reported);
        let files = TlsFiles { certificate: self.certificate(), key: self.key(), clients };
        Tls::open(&files, Box::new(move |words| reported.lock().push(words)))
    }
}

fn make() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// The result of a handshake with a client that trusts `made`, and the negotiated protocol.
async fn connects(acceptor: TlsAcceptor, made: &CertifiedKey<KeyPair>) -> Option<Vec<u8>> {
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let server = async {
        let mut stream = acceptor.accept(theirs).await.ok()?;
        stream.write_all(b"hello").await.ok()?;
        stream.shutdown().await.ok()
    };
    let client = async {
        let connector = TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect("localhost".try_into().unwrap(), ours).await.ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok()?;
        assert_eq!(text, "hello");
        stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec)
    };
    tokio::join!(server, client).1
}

#[tokio::test]
async fn a_certificate_is_used_and_its_successor_after_it() {
    let (files, first, second) = (Files::new(), make(), make());
    files.write(&first);
    let tls = files.open().unwrap();
    assert_eq!(connects(tls.acceptor(), &first).await.as_deref(), Some(&b"http/1.1"[..]));
    assert_eq!(connects(tls.acceptor(), &second).await, None);

    files.write(&second);
    let later = Instant::now() + Duration::from_secs(2);
    assert!(connects(tls.acceptor_at(later), &second).await.is_some());
    assert_eq!(*files.reported.lock(), Vec::<String>::new());
}

#[tokio::test]
async fn a_broken_successor_is_reported_once_and_the_old_one_stays() {
    let (files, first, second) = (Files::new(), make(), make());
    files.write(&first);
    let tls = files.open().unwrap();
    let start = Instant::now();
    let at = |seconds| tls.acceptor_at(start + Duration::from_secs(seconds));

    // Only one file of the pair was replaced.
    fs::write(files.certificate(), second.cert.pem()).unwrap();
    assert!(connects(at(2), &first).await.is_some());
    assert!(connects(at(4), &first).await.is_some());
    let said = files.reported.lock().clone();
    assert!(said.len() == 1 && said[0].contains("cannot be used together"), "{said:?}");
    files.write_key(&second.signing_key.serialize_pem());
    assert!(connects(at(6), &second).await.is_some());

    for broken in ["", "junk", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        fs::write(files.certificate(), broken).unwrap();
        let seconds = 8 + files.reported.lock().len() as u64 * 2;
        assert!(connects(at(seconds), &second).await.is_some(), "{broken}");
    }
    fs::remove_file(files.certificate()).unwrap();
    assert!(connects(at(60), &second).await.is_some());
    assert_eq!(files.reported.lock().len(), 5);
    fs::write(files.certificate(), second.cert.pem()).unwrap();
    fs::set_permissions(files.key(), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(connects(at(70), &second).await.is_some());
    assert!(files.reported.lock()[5].contains("chmod 600"));
}

#[test]
fn unusable_certificates_are_refused_at_the_start() {
    let files = Files::new();
    assert!(matches!(files.open(), Err(TlsError::File(GuardedFileError::Unreadable { .. }))));
    let (made, other) = (make(), make());
    files.write(&made);
    fs::set_permissions(files.key(), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(files.open(), Err(TlsError::File(GuardedFileError::TooOpen { .. }))));
    files.write_key(&other.signing_key.serialize_pem());
    assert!(matches!(files.open(), Err(TlsError::Unusable { .. })));
    files.write_key("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    assert!(matches!(files.open(), Err(TlsError::NoKey(_))));
    files.write_key(&made.signing_key.serialize_pem());
    fs::write(files.certificate(), made.signing_key.serialize_pem()).unwrap();
    assert!(matches!(files.open(), Err(TlsError::NoCertificate(_))));
}

/// A certificate authority for client certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(parameters, key) }
    }

    /// A client with a certificate of that serial number, which remembers its TLS sessions.
    fn client(&self, server: &CertifiedKey<KeyPair>, serial: u64) -> Arc<ClientConfig> {
        let mut parameters = CertificateParams::new(vec!["alice".to_owned()]).unwrap();
        parameters.serial_number = Some(SerialNumber::from(serial));
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap().der().clone();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut roots = RootCertStore::empty();
        roots.add(server.cert.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate], key);
        Arc::new(config.unwrap())
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

/// The result of a handshake with that client.
async fn handshake(acceptor: TlsAcceptor, client: &Arc<ClientConfig>) -> Option<HandshakeKind> {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let server = async {
        let mut stream = acceptor.accept(theirs).await.ok()?;
        stream.write_all(b"hello").await.ok()?;
        stream.shutdown().await.ok()
    };
    let client = async {
        let connector = TlsConnector::from(Arc::clone(client));
        let mut stream = connector.connect("localhost".try_into().unwrap(), ours).await.ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok()?;
        stream.get_ref().1.handshake_kind()
    };
    tokio::join!(server, client).1
}

#[tokio::test]
async fn a_client_certificate_is_verified_for_each_connection() {
    let (files, made, authority) = (Files::new(), make(), Authority::new());
    files.write(&made);
    let alice = authority.client(&made, 2);
    let open = files.open().unwrap();
    assert_eq!(handshake(open.acceptor(), &alice).await, Some(HandshakeKind::Full));
    assert_eq!(handshake(open.acceptor(), &alice).await, Some(HandshakeKind::Resumed), "nothing is verified");

    let authorities = files.folder.path().join("ca.pem");
    fs::write(&authorities, &authority.pem).unwrap();
    let clients = ClientCertificates {
        authorities,
        revoked: None,
        is_optional: false,
        name: CertificateName::default(),
    };
    let verifying = files.open_for(Some(clients)).unwrap();
    let alice = authority.client(&made, 2);
    for _ in 0..3 {
        assert_eq!(handshake(verifying.acceptor(), &alice).await, Some(HandshakeKind::Full));
    }
}

#[tokio::test]
async fn new_authorities_and_revocations_count_for_the_next_connection() {
    let (files, made) = (Files::new(), make());
    let (first, second) = (Authority::new(), Authority::new());
    files.write(&made);
    let (authorities, revoked) = (files.folder.path().join("ca.pem"), files.folder.path().join("crl.pem"));
    fs::write(&authorities, &first.pem).unwrap();
    fs::write(&revoked, first.revocations(9)).unwrap();
    let clients = ClientCertificates {
        authorities: authorities.clone(),
        revoked: Some(revoked.clone()),
        is_optional: false,
        name: CertificateName::default(),
    };
    let tls = files.open_for(Some(clients)).unwrap();
    let start = Instant::now();
    let at = |seconds| tls.acceptor_at(start + Duration::from_secs(seconds));
    let (alice, bob, foreign) = (first.client(&made, 2), first.client(&made, 3), second.client(&made, 2));
    assert!(handshake(at(0), &alice).await.is_some() && handshake(at(0), &bob).await.is_some());
    assert!(handshake(at(0), &foreign).await.is_none());

    fs::write(&revoked, first.revocations(2)).unwrap();
    assert!(handshake(at(2), &alice).await.is_none(), "it was revoked");
    assert!(handshake(at(2), &bob).await.is_some());
    // With a broken revocation list, the previous one stays in use.
    fs::write(&revoked, "junk").unwrap();
    assert!(handshake(at(4), &alice).await.is_none() && handshake(at(4), &bob).await.is_some());
    assert!(files.reported.lock()[0].contains("no list of revoked certificates"));

    fs::write(&authorities, &second.pem).unwrap();
    fs::write(&revoked, second.revocations(9)).unwrap();
    assert!(handshake(at(6), &bob).await.is_none());
    assert!(handshake(at(6), &foreign).await.is_some());
}
