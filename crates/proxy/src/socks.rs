//! SOCKS5 (RFC 1928): `CONNECT` without authentication.

use crate::reach::Failure;
use crate::request::{NoRequest, Protocol, Request, Target};
use mcp_bash_sandbox::Host;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The first byte of a client.
pub(crate) const VERSION: u8 = 5;

const NO_AUTHENTICATION: u8 = 0;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

const GENERAL_FAILURE: u8 = 1;
const NOT_ALLOWED: u8 = 2;
const NETWORK_UNREACHABLE: u8 = 3;
const HOST_UNREACHABLE: u8 = 4;
const CONNECTION_REFUSED: u8 = 5;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_NOT_SUPPORTED: u8 = 8;

/// The answer to a client that is connected.
pub(crate) const CONNECTED: [u8; 10] = reply(0);

/// The address in a reply is that of our own socket, which is of no use to a client: it is left empty.
const fn reply(code: u8) -> [u8; 10] {
    [VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]
}

/// Reads the rest of the greeting after its first byte, answers it, and reads the request.
pub(crate) async fn read(client: &mut TcpStream) -> Result<Request, NoRequest> {
    let mut methods = vec![0; client.read_u8().await?.into()];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        return Err(NoRequest::NotUnderstood(vec![VERSION, NO_ACCEPTABLE_METHOD]));
    }
    client.write_all(&[VERSION, NO_AUTHENTICATION]).await?;

    let mut start = [0; 4];
    client.read_exact(&mut start).await?;
    let [version, command, _, kind] = start;
    let not_understood = |code| Err(NoRequest::NotUnderstood(reply(code).to_vec()));
    if version != VERSION {
        return not_understood(GENERAL_FAILURE);
    }
    if command != CONNECT {
        return not_understood(COMMAND_NOT_SUPPORTED);
    }
    let host = match kind {
        IPV4 => text(client.read_u32().await?.to_be_bytes().into()),
        IPV6 => text(client.read_u128().await?.to_be_bytes().into()),
        NAME => {
            let mut name = vec![0; client.read_u8().await?.into()];
            client.read_exact(&mut name).await?;
            name_text(&name)
        }
        _ => return not_understood(ADDRESS_NOT_SUPPORTED),
    };
    let port = client.read_u16().await?;
    let target = Target::new(&host, port).map_err(|refusal| NoRequest::Refused(Protocol::Socks, refusal))?;
    Ok(Request { protocol: Protocol::Socks, target, first_bytes: Vec::new() })
}

/// An address as a URL has it.
fn text(address: IpAddr) -> String {
    Host::Address(address).to_string()
}

/// Some clients send an IPv6 address as a name, without brackets.
fn name_text(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    match name.parse::<Ipv6Addr>() {
        Ok(address) => text(address.into()),
        Err(_) => name.into_owned(),
    }
}

pub(crate) fn failed(failure: &Failure) -> Vec<u8> {
    let code = match failure {
        Failure::Refused(_) => NOT_ALLOWED,
        Failure::Unresolved { .. } => HOST_UNREACHABLE,
        Failure::Unreachable { error, .. } => match error.kind() {
            io::ErrorKind::ConnectionRefused => CONNECTION_REFUSED,
            io::ErrorKind::NetworkUnreachable => NETWORK_UNREACHABLE,
            _ => HOST_UNREACHABLE,
        },
    };
    reply(code).to_vec()
}
