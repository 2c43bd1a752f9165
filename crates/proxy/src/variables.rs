//! Environment variables that make programs use the proxy.

/// The variables for a proxy at this port of the loopback interface.
///
/// - `http_proxy` and `https_proxy` in lower case: curl (which ignores `HTTP_PROXY`), wget, git, apt, Ruby.
/// - `HTTP_PROXY` and `HTTPS_PROXY`: Go, Rust's reqwest, Node.js, npm, pip, and most others that read both.
/// - `ALL_PROXY`, `all_proxy`: curl for other protocols than HTTP. It names the HTTP proxy, though SOCKS5 is served at the
///   same port: Python's httpx fails at any value that begins with `socks` unless a further package is installed.
/// - `NO_PROXY`, `no_proxy`: all of them. Ports of this machine are bridged and need no proxy.
/// - `NODE_USE_ENV_PROXY`: Node.js from 22.21 and 24.5 on uses the variables above only with it.
pub fn variables(port: u16) -> [(&'static str, String); 9] {
    let proxy = || format!("http://127.0.0.1:{port}");
    let direct = || "localhost,127.0.0.1,::1".to_owned();
    [
        ("HTTP_PROXY", proxy()),
        ("HTTPS_PROXY", proxy()),
        ("ALL_PROXY", proxy()),
        ("NO_PROXY", direct()),
        ("http_proxy", proxy()),
        ("https_proxy", proxy()),
        ("all_proxy", proxy()),
        ("no_proxy", direct()),
        ("NODE_USE_ENV_PROXY", "1".to_owned()),
    ]
}
