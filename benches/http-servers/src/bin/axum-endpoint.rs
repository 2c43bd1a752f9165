//! HTTP baseline: an endpoint on axum that answers every POST with the same bytes.
//!
//! It shows the best that a server on hyper can reach. It reads no message, keeps no state and limits nothing.
//!
//!   axum-endpoint THREADS FILE...    each file is the answer at the path of its name

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use mcp_bash_bench_http_servers::serve;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let threads = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    let mut router = Router::new();
    for file in arguments.map(PathBuf::from) {
        let answer = Bytes::from(fs::read(&file)?);
        let name = file.file_name().ok_or("an answer is a file with a name")?.to_string_lossy().into_owned();
        let handler = post(move || async move { ([(CONTENT_TYPE, "application/json")], answer) });
        router = router.route(&format!("/{name}"), handler);
    }
    serve(threads.ok_or("THREADS is a number")?, router)
}
