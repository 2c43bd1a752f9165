//! What a filter depends on.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterChoices {
    pub sockets: Sockets,
    /// Whether Unix sockets can be made. Connected pairs (`socketpair`) always can, except pairs of datagram sockets
    /// if this is `false`: those could still be connected to a path.
    pub unix_sockets: bool,
}

/// Which internet sockets a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// As usual.
    All,
    /// The process has a network namespace of its own, which limits what they reach.
    Isolated,
    /// Landlock limits TCP connections to ports: everything that it does not see is denied. These are sockets other
    /// than TCP, TCP Fast Open, and `listen`, which takes a port without `bind`.
    TcpOnly,
    /// None at all.
    None,
}
