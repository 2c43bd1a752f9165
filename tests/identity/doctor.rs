//! `doctor` says how callers are known, and whether the issuer answers.

use super::issuer::{Issuer, Mood, Signer};
use crate::harness::{Project, Server};

#[test]
fn doctor_asks_the_issuer() {
    let (issuer, project) = (Issuer::start(&[&Signer::new("1")]), Project::with_hi());
    let doctor = || {
        let mut command = Server::command();
        command.arg("doctor").arg("--project-root").arg(project.root());
        let output = command.env("MCPBASH_HTTP_ISSUERS", issuer.url()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let said = doctor();
    assert!(said.contains("callers are known by tokens of an issuer"), "{said}");
    assert!(said.contains(&format!("the issuer {} answers, and has keys", issuer.url())), "{said}");
    issuer.set_mood(Mood::Gone);
    let said = doctor();
    assert!(said.contains(&format!("the keys of the issuer {} cannot be fetched", issuer.url())), "{said}");
}
