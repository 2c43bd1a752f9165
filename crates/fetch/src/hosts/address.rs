//! Public addresses: which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks that are not public, from IANA's registry of special-purpose addresses.
const SPECIAL_V4: [([u8; 4], u32, &str); 16] = [
    ([0, 0, 0, 0], 8, "this host itself"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "a provider's own"),
    ([127, 0, 0, 0], 8, "this host itself"),
    ([169, 254, 0, 0], 16, "of the local link"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "reserved for protocols"),
    ([192, 0, 2, 0], 24, "for documentation"),
    ([192, 88, 99, 0], 24, "a former relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "for benchmarks"),
    ([198, 51, 100, 0], 24, "for documentation"),
    ([203, 0, 113, 0], 24, "for documentation"),
    ([224, 0, 0, 0], 4, "a group of hosts"),
    ([240, 0, 0, 0], 4, "reserved"),
    ([255, 255, 255, 255], 32, "everyone"),
];

/// Networks within the public range of IPv6 that are not public, or lead to some IPv4 address.
const SPECIAL_V6: [(u128, u32, &str); 5] = [
    (0x2001_0000 << 96, 23, "reserved for protocols and tunnels"),
    (0x2001_0db8 << 96, 32, "for documentation"),
    (0x2002_0000 << 96, 16, "a tunnel to an address of IPv4"),
    (0x3ffe_0000 << 96, 16, "no longer in use"),
    (0x3fff_0000 << 96, 20, "for documentation"),
];

/// What kind of address it is, if it is not public. An address that is not known to be public is not.
pub(crate) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = u32::from(address);
    let is_in =
        |network: [u8; 4], length: u32| (bits ^ u32::from_be_bytes(network)).leading_zeros() >= length;
    SPECIAL_V4.iter().find(|(network, length, _)| is_in(*network, *length)).map(|&(_, _, what)| what)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = u128::from(address);
    // 2000::/3 is all that has been assigned. Loopback, link-local, private and multicast addresses, and most ways to
    // write an IPv4 address as an IPv6 address, are outside it.
    if bits >> 125 != 1 {
        return Some("not of the public part of IPv6");
    }
    let is_in = |network: u128, length: u32| (bits ^ network).leading_zeros() >= length;
    SPECIAL_V6.iter().find(|(network, length, _)| is_in(*network, *length)).map(|&(_, _, what)| what)
}
