use super::*;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;

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

    fn write(&self, made: &CertifiedKey<rcgen::KeyPair>) {
        fs::write(self.certificate(), made.cert.pem()).unwrap();
        self.write_key(&made.signing_key.serialize_pem());
    }

    fn write_key(&self, text: &str) {
        fs::write(self.key(), text).unwrap();
        fs::set_permissions(self.key(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn open(&self) -> Result<Tls, TlsError> {
        let reported = Arc::clone(&self.reported);
        let files = TlsFiles { certificate: self.certificate(), key: self.key(), clients: None };
        Tls::open(&files, Box::new(move |words| reported.lock().push(words)))
    }
}

fn make() -> CertifiedKey<rcgen::KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// Whether a client that trusts `made` gets through, and which protocol is agreed upon.
async fn connects(acceptor: TlsAcceptor, made: &CertifiedKey<rcgen::KeyPair>) -> Option<Vec<u8>> {
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

    // Only half of the pair is there yet.
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
