//! Rates of callers are counted by all servers together.

use super::{Fleet, write_private};
use crate::harness::http::{Response, initialize, post, stateless_with};
use crate::harness::{Project, wait_until};
use serde_json::json;

const ROLES: &str = "roles:
  slow: {rate: 6/h, given: {tokens: [me]}}
  quick: {rate: 4000/min, given: {tokens: [stranger]}}
";

fn fleet(settings: &[(&'static str, &'static str)]) -> (Project, Fleet) {
    let project = Project::with_hi().file("server.d/server.meta.json", "{}");
    write_private(&project.root().join("server.d/roles.yaml"), ROLES);
    let fleet = Fleet::start_with(&project, 3, settings);
    (project, fleet)
}

fn ask(fleet: &Fleet, server: usize, token: &str) -> Response {
    fleet.servers[server].send(&stateless_with(&[("Authorization", token)], 1, "server/discover", &json!({})))
}

#[test]
fn a_caller_that_goes_from_server_to_server_gets_its_rate_once() {
    let (_project, fleet) = fleet(&[]);
    let statuses: Vec<u16> = (0..9).map(|number| ask(&fleet, number % 3, fleet.token()).status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 429, 429, 429]);
    let refused = ask(&fleet, 0, fleet.token());
    let seconds: u64 = refused.header("retry-after").and_then(|text| text.parse().ok()).expect("a time");
    assert!((500..=600).contains(&seconds), "one in ten minutes: {seconds}");
}

#[test]
fn without_the_database_each_server_counts_for_itself_and_no_request_fails() {
    let (_project, mut fleet) = fleet(&[]);
    assert_eq!(ask(&fleet, 0, fleet.token()).status, 200);
    fleet.database.kill();
    for server in 0..3 {
        let statuses: Vec<u16> = (0..8).map(|_| ask(&fleet, server, fleet.token()).status).collect();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 429, 429], "server {server}");
    }
    // The database counts again when it is back, and has forgotten what was spent before it crashed.
    fleet.database.start_again();
    wait_until("the database to count", || (ask(&fleet, 0, fleet.token()).status == 200).then_some(()));
}

#[test]
fn what_is_paid_in_advance_is_counted_too() {
    let (_project, fleet) = fleet(&[]);
    let passed = (0..300).filter(|number| ask(&fleet, number % 3, fleet.strangers_token()).status == 200);
    assert_eq!(passed.count(), 300);
    // A server pays for several requests at a time while they come fast.
    wait_until("a payment in advance", || {
        ask(&fleet, 0, fleet.strangers_token());
        let counted = "SELECT counter, taken > 1 FROM fleet.rates WHERE counter LIKE 'requests %'";
        let counted = fleet.database.query(counted);
        assert_eq!(counted.lines().count(), 1, "{counted}");
        counted.ends_with("|t").then_some(())
    });
    // Now all of it is spent, for all of them.
    fleet.database.query("UPDATE fleet.rates SET paid_at = paid_at + 60000000");
    wait_until("nothing to be left", || {
        (0..3).all(|server| ask(&fleet, server, fleet.strangers_token()).status == 429).then_some(())
    });
}

#[test]
fn sessions_that_are_begun_are_counted_together() {
    let (_project, fleet) = fleet(&[("MCPBASH_HTTP_MAX_SESSIONS_PER_MIN", "2")]);
    let token = fleet.strangers_token();
    let begin = |server: usize| {
        let message = initialize("2025-06-18", &json!({})).to_string();
        fleet.servers[server].send(&post(&[("Authorization", token)], &message)).status
    };
    assert_eq!([begin(0), begin(1), begin(2)], [200, 200, 429]);
}
