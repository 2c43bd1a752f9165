//! Attacks over the network and through sockets.

use super::arena::Arena;
use super::attacks::{Row, allowed, expect, refused};
use super::identity::Identity;
use serde_json::json;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn no_socket_reaches_the_outside() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", "a tool reads its project"),
        refused("tcp {tcp}"),
        refused("tcp {tcp-6}"),
        refused("udp {udp}"),
        refused("dns {udp}"),
        refused("mptcp {tcp}").on_some_kernels(),
        refused("fast-open {tcp}"),
        refused("fast-open-connect {tcp}"),
        refused("unix {unix}").if_strict(),
        refused("unix-datagram {unix-datagram}").if_strict(),
        refused("abstract {abstract}"),
        refused("listen {network}"),
        refused("raw").by_root(),
        refused("packet").by_root(),
        refused("vsock").on_some_kernels(),
        refused("crypto").on_some_kernels(),
        refused("netlink-audit").on_some_kernels(),
        refused("netlink-sockets"),
        refused("netlink-devices"),
        refused("family-with-high-bits").on_some_kernels(),
        refused("by-program tcp {tcp}"),
        refused("by-daemon tcp {tcp}"),
        refused("by-daemon udp {udp}"),
        refused("by-daemon abstract {abstract}"),
        refused("by-memory-file tcp {tcp}"),
        refused("enter {server} net").by_root(),
        refused("enter {process} net").by_root(),
    ];
    expect(ROWS);
}

#[test]
fn nothing_outside_can_connect_to_a_tool() {
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
        for (sandbox, is_reached) in [("on", false), ("off", true)] {
            let address = free_address();
            let is_over = AtomicBool::new(false);
            let report = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let _ = TcpStream::connect_timeout(&address, Duration::from_millis(100));
                        std::thread::sleep(Duration::from_millis(5));
                    }
                });
                let report = arena.attack(sandbox, &format!("accept {address}"));
                is_over.store(true, Ordering::Relaxed);
                report.unwrap()
            });
            assert_eq!(report.is_done, is_reached, "{sandbox}, {identity:?}: {report:?}");
        }
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}
