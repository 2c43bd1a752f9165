//! Keys of an issuer: rotated during calls, and an issuer that hangs, is gone, or floods.

use super::issuer::{Issuer, Mood, RESOURCE, Signer};
use super::tokens::{call, serve, text};
use crate::harness::http::HttpServer;
use crate::harness::metrics::{WITH_METRICS, get, metrics_address};
use crate::harness::{Project, wait_until};

/// A server whose issuer misbehaves from the start.
fn serve_in(mood: Mood, project: &Project, key: &Signer) -> (Issuer, HttpServer) {
    let issuer = Issuer::start(&[key]);
    issuer.set_mood(mood);
    let server = serve(project, &issuer, &[]);
    (issuer, server)
}

// Shows: auth-validated
#[test]
fn keys_are_fetched_once_and_again_when_they_are_rotated() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let issuer = Issuer::start(&[&old]);
    let project = Project::with_hi();
    let server = serve(&project, &issuer, &[]);
    let token = old.token(&issuer.claims());
    for _ in 0..5 {
        assert_eq!(text(&call(&server, &token, "hi")), "hi");
    }
    assert_eq!(issuer.requests("/keys"), 1);
    // Callers with both tokens, while the issuer begins to use a new key.
    issuer.set_keys(&[&old, &new]);
    let newer = new.token(&issuer.claims());
    std::thread::scope(|scope| {
        for token in [&token, &newer, &token, &newer] {
            scope.spawn(|| assert_eq!(call(&server, token, "hi").status, 200));
        }
    });
    assert_eq!(issuer.requests("/keys"), 2);
    // The old key is no longer one of the issuer, as soon as anything makes the server look.
    issuer.set_keys(&[&new]);
    let unknown = Signer::new("unknown").token(&issuer.claims());
    assert_eq!(call(&server, &unknown, "hi").status, 401);
    assert_eq!(call(&server, &token, "hi").status, 401);
    assert_eq!(call(&server, &newer, "hi").status, 200);
}

#[test]
fn a_call_goes_on_when_the_key_of_its_token_is_withdrawn_meanwhile() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let issuer = Issuer::start(&[&old]);
    let waits = "#!/bin/sh\ntouch begun\nwhile [ ! -e go ]; do sleep 0.1; done\necho \"$MCP_CALLER\"\n";
    let project = Project::with_hi().tool("waits", waits);
    let server = serve(&project, &issuer, &[]);
    let (token, newer) = (old.token(&issuer.claims()), new.token(&issuer.claims()));
    std::thread::scope(|scope| {
        let in_flight = scope.spawn(|| call(&server, &token, "waits"));
        wait_until("the tool to run", || project.path("begun").exists().then_some(()));
        issuer.set_keys(&[&new]);
        // The new key makes the server ask for the keys, and the old one is gone from then on.
        assert_eq!(text(&call(&server, &newer, "hi")), "hi");
        assert_eq!(call(&server, &token, "hi").status, 401);
        assert!(!in_flight.is_finished());
        project.write("go", "");
        let answer = in_flight.join().unwrap();
        assert_eq!((answer.status, text(&answer)), (200, format!("{} alice", issuer.url())));
    });
    assert_eq!(call(&server, &token, "waits").status, 401);
}

#[test]
fn tokens_of_unknown_keys_do_not_make_the_server_ask_without_end() {
    let key = Signer::new("1");
    let issuer = Issuer::start(&[&key]);
    let project = Project::with_hi();
    let server = serve(&project, &issuer, &[]);
    assert_eq!(call(&server, &key.token(&issuer.claims()), "hi").status, 200);
    let forged = Signer::new("2").token(&issuer.claims());
    for _ in 0..50 {
        assert!([401, 429].contains(&call(&server, &forged, "hi").status));
    }
    assert!(issuer.requests("/keys") <= 4, "{}", issuer.requests("/keys"));
    assert_eq!(call(&server, &key.token(&issuer.claims()), "hi").status, 200);
}

#[test]
fn an_issuer_that_hangs_delays_only_tokens_of_keys_that_are_not_known() {
    let (key, new) = (Signer::new("1"), Signer::new("2"));
    let issuer = Issuer::start(&[&key]);
    let project = Project::with_hi();
    let server = serve(&project, &issuer, &[]);
    let token = key.token(&issuer.claims());
    assert_eq!(text(&call(&server, &token, "hi")), "hi");
    issuer.set_mood(Mood::Hangs);
    let path = "/.well-known/oauth-authorization-server";
    // On a slow machine the issuer may be given up before the known key is used. Then it is tried again.
    wait_until("a known key to be used while the issuer hangs", || {
        std::thread::scope(|scope| {
            let asked = issuer.requests(path);
            let waiting = scope.spawn(|| call(&server, &new.token(&issuer.claims()), "hi"));
            wait_until("the issuer to be asked, or to be left alone for a while", || {
                (issuer.requests(path) > asked || waiting.is_finished()).then_some(())
            });
            assert_eq!(text(&call(&server, &token, "hi")), "hi");
            let is_overtaken = issuer.is_waited_for();
            let late = waiting.join().unwrap();
            assert!(late.status == 503 && late.header("Retry-After").is_some(), "{}", late.status);
            is_overtaken.then_some(())
        })
    });
    wait_until("the log to say so", || server.log().contains("the previous ones stay in use").then_some(()));
    // It comes back.
    issuer.set_mood(Mood::Answers);
    issuer.set_keys(&[&key, &new]);
    wait_until("the issuer to be asked again", || {
        (call(&server, &new.token(&issuer.claims()), "hi").status == 200).then_some(())
    });
}

#[test]
fn without_an_issuer_no_token_is_accepted_and_the_log_says_why() {
    let (key, project) = (Signer::new("1"), Project::with_hi());
    for (mood, why) in [(Mood::Gone, "does not speak HTTP"), (Mood::Floods, "sent more than 524288 bytes")] {
        let (issuer, server) = serve_in(mood, &project, &key);
        assert_eq!(call(&server, &key.token(&issuer.claims()), "hi").status, 503, "{mood:?}");
        wait_until("the log to say why", || {
            let log = server.log();
            (log.contains("its tokens are not accepted") && log.contains(why)).then_some(())
        });
    }
}

#[test]
fn a_server_whose_issuer_is_gone_from_the_start_is_not_ready() {
    let (key, project) = (Signer::new("1"), Project::with_hi());
    let issuer = Issuer::start(&[&key]);
    issuer.set_mood(Mood::Gone);
    let url = issuer.url();
    let arguments = ["--issuer", &url, "--resource", RESOURCE, WITH_METRICS[0], WITH_METRICS[1]];
    let server = HttpServer::start_with(project.root(), &arguments, &[]);
    let metrics = metrics_address(&server);
    let ready = get(metrics, "/readyz", "*/*");
    assert_eq!(ready.status, 503);
    assert!(ready.text().contains(&format!("the keys of `{url}` are not known")), "{}", ready.text());
    // Nobody else may ask while the server gets no requests.
    issuer.set_mood(Mood::Answers);
    wait_until("the server to be ready", || (get(metrics, "/readyz", "*/*").status == 200).then_some(()));
    assert_eq!(text(&call(&server, &key.token(&issuer.claims()), "hi")), "hi");
}
