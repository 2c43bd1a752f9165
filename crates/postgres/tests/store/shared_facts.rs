//! What servers count and keep together.

use super::{fresh_url, open, sql, wait};
use mcp_bash_postgres::{Record, Taken};
use mcp_bash_tasks::TaskStore;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

fn text(bytes: &[u8]) -> Record {
    Record { bytes: bytes.to_vec(), mime_type: "text/plain".to_owned() }
}

#[test]
fn a_text_can_be_read_at_any_server_by_its_owner_alone() {
    let (url, schema) = fresh_url();
    let (one, other) = (open(&url), open(&url));
    wait(one.put("k", "me", text(b"all \0 of it"), MINUTE)).unwrap();
    assert_eq!(wait(other.get("k", "me")).unwrap(), Some(text(b"all \0 of it")));
    assert_eq!(wait(other.get("k", "you")).unwrap(), None);
    assert_eq!(wait(other.get("other", "me")).unwrap(), None);
    sql(&format!("UPDATE {schema}.records SET expires_at = now()"));
    assert_eq!(wait(other.get("k", "me")).unwrap(), None);
    wait(one.put("next", "me", text(b"x"), MINUTE)).unwrap();
    assert_eq!(sql(&format!("SELECT string_agg(key, ',') FROM {schema}.records")), "next");
}

#[test]
fn the_oldest_texts_of_a_caller_make_room() {
    let (url, _) = fresh_url();
    let store = open(&url);
    let third = vec![b'x'; 22 * 1024 * 1024];
    wait(store.put("small", "you", text(b"x"), MINUTE)).unwrap();
    for key in ["1", "2", "3", "4"] {
        wait(store.put(key, "me", text(&third), MINUTE)).unwrap();
    }
    let is_there = |key| wait(store.get(key, "me")).unwrap().is_some();
    assert_eq!(["1", "2", "3", "4"].map(is_there), [false, false, true, true]);
    assert!(wait(store.get("small", "you")).unwrap().is_some());
}

#[test]
fn a_key_is_good_once_whichever_servers_try() {
    let (url, schema) = fresh_url();
    let expires = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 60;
    let barrier = Barrier::new(5);
    let used: usize = thread::scope(|scope| {
        let tries: Vec<_> = (0..5)
            .map(|_| {
                scope.spawn(|| {
                    let store = open(&url);
                    barrier.wait();
                    usize::from(wait(store.use_once([7; 16], expires)).unwrap())
                })
            })
            .collect();
        tries.into_iter().map(|tried| tried.join().unwrap()).sum()
    });
    assert_eq!(used, 1);
    let store = open(&url);
    let are_used = |keys: &[u8]| {
        let mut used: Vec<u8> = wait(store.used(keys.iter().map(|key| [*key; 16]).collect()))
            .unwrap()
            .into_iter()
            .map(|key| key[0])
            .collect();
        used.sort_unstable();
        used
    };
    assert_eq!(are_used(&[6, 7]), [7], "looking uses nothing");
    assert_eq!(are_used(&[6, 7]), [7]);
    wait(store.give_back([7; 16])).unwrap();
    assert!(are_used(&[7]).is_empty());
    assert!(
        wait(store.use_once([7; 16], expires)).unwrap() && !wait(store.use_once([7; 16], expires)).unwrap()
    );
    assert!(wait(store.use_once([8; 16], 1)).unwrap());
    assert!(wait(store.use_once([9; 16], expires)).unwrap());
    assert_eq!(sql(&format!("SELECT count(*) FROM {schema}.used_keys")), "2");
    // A key that is marked again expires later.
    wait(store.mark([8; 16], 1)).unwrap();
    assert_eq!(are_used(&[8, 9]), [9], "it has expired");
    wait(store.mark([8; 16], expires)).unwrap();
    assert_eq!(are_used(&[8, 9]), [8, 9]);
}

#[test]
fn a_sweep_removes_expired_texts_and_keys_of_callers_that_never_come_again() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    wait(store.put("old", "me", text(b"x"), MINUTE)).unwrap();
    wait(store.use_once([1; 16], 1)).unwrap();
    sql(&format!("UPDATE {schema}.records SET expires_at = now()"));
    wait(store.put("new", "you", text(b"x"), MINUTE)).unwrap();
    wait(store.use_once([2; 16], u64::from(u32::MAX))).unwrap();
    store.sweep(0, 10).unwrap();
    assert_eq!(sql(&format!("SELECT string_agg(key, ',') FROM {schema}.records")), "new");
    assert_eq!(sql(&format!("SELECT count(*) FROM {schema}.used_keys")), "1");
}

/// A rate of so many requests an hour, so that none is earned while a test runs.
fn take(url: &str, caller: &str, rate: u32, most: u32) -> Taken {
    let cost = HOUR / rate;
    wait(open(url).take(caller, cost, cost * rate, most)).unwrap()
}

#[test]
fn servers_that_spend_a_rate_at_once_spend_it_once() {
    let (url, _) = fresh_url();
    let barrier = Barrier::new(6);
    let taken: u32 = thread::scope(|scope| {
        let servers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    (0..4).map(|_| take(&url, "me", 7, 2).requests).sum::<u32>()
                })
            })
            .collect();
        servers.into_iter().map(|server| server.join().unwrap()).sum()
    });
    assert_eq!(taken, 7, "48 were asked for");
    let refused = take(&url, "me", 7, 2);
    assert_eq!(refused.requests, 0);
    assert!(refused.wait > HOUR / 14 && refused.wait <= HOUR / 7, "{refused:?}");
    assert_eq!(take(&url, "other", 7, 2).requests, 2);
}

#[test]
fn time_pays_for_requests_and_a_higher_rate_forgives_the_debt_of_a_lower_one() {
    let (url, schema) = fresh_url();
    assert_eq!(take(&url, "me", 10, 10).requests, 10);
    sql(&format!("UPDATE {schema}.rates SET paid_at = paid_at - 780000000"));
    assert_eq!(take(&url, "me", 10, 10).requests, 2, "a request costs 6 minutes");
    sql(&format!("UPDATE {schema}.rates SET paid_at = 1"));
    assert_eq!(take(&url, "me", 10, 30).requests, 10, "nobody saves up more than a period");
    sql(&format!("UPDATE {schema}.rates SET paid_at = paid_at + 540000000000"));
    let refused = take(&url, "me", 60, 5);
    assert!(refused.requests == 0 && refused.wait <= MINUTE, "{refused:?}");
    sql(&format!("UPDATE {schema}.rates SET paid_at = 1"));
    take(&url, "other", 10, 1);
    assert_eq!(sql(&format!("SELECT counter FROM {schema}.rates")), "other", "paid counters go");
}
