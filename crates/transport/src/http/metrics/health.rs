//! Health endpoints: liveness, readiness and metrics.

use super::exposition::Format;
use super::{Gauges, Metrics};
use http::StatusCode;
use std::sync::Arc;

/// The state of the running server.
pub(in crate::http) trait ServerStatus {
    /// Why the server is not ready for requests. May read files.
    fn not_ready(&self) -> Option<String>;
    /// Why the shared store cannot be reached. The server stays ready, because all servers lack the store.
    fn store_problem(&self) -> Option<String>;
    fn gauges(&self) -> Gauges;
}

pub(in crate::http) struct Health {
    metrics: Arc<Metrics>,
}

/// The response.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) struct HealthAnswer {
    pub(in crate::http) status: StatusCode,
    pub(in crate::http) content_type: &'static str,
    pub(in crate::http) body: String,
}

impl HealthAnswer {
    /// The response if readiness could not be determined.
    pub(in crate::http) fn failed() -> Self {
        text_answer(StatusCode::SERVICE_UNAVAILABLE, "the server could not find out whether it is ready\n")
    }
}

/// The paths of the readiness check.
const READINESS: [&str; 2] = ["/readyz", "/health"];

const TEXT: &str = "text/plain; charset=utf-8";

impl Health {
    pub(in crate::http) fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics }
    }

    /// Whether answering that path may block on files.
    pub(in crate::http) fn waits(path: &str) -> bool {
        READINESS.contains(&path)
    }

    /// Answers a GET of that path. `server` is asked only if needed.
    pub(in crate::http) fn answer(
        &self,
        path: &str,
        accept: Option<&str>,
        server: &impl ServerStatus,
    ) -> HealthAnswer {
        match path {
            "/livez" => text_answer(StatusCode::OK, "alive\n"),
            path if READINESS.contains(&path) => match server.not_ready() {
                None => match server.store_problem() {
                    None => text_answer(StatusCode::OK, "ready\n"),
                    Some(why) => {
                        let body = format!("ready, but the shared store cannot be reached: {why}\n");
                        text_answer(StatusCode::OK, &body)
                    }
                },
                Some(why) => text_answer(StatusCode::SERVICE_UNAVAILABLE, &format!("{why}\n")),
            },
            "/metrics" => {
                let format = Format::wanted(accept);
                let body = self.metrics.render(&server.gauges(), format);
                HealthAnswer { status: StatusCode::OK, content_type: format.content_type(), body }
            }
            _ => text_answer(StatusCode::NOT_FOUND, "There are /livez, /readyz, /health and /metrics here\n"),
        }
    }
}

fn text_answer(status: StatusCode, body: &str) -> HealthAnswer {
    HealthAnswer { status, content_type: TEXT, body: body.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(Option<&'static str>);

    impl ServerStatus for Told {
        fn store_problem(&self) -> Option<String> {
            None
        }

        fn not_ready(&self) -> Option<String> {
            self.0.map(str::to_owned)
        }

        fn gauges(&self) -> Gauges {
            Gauges::default()
        }
    }

    #[test]
    fn a_server_that_drains_lives_and_is_not_ready() {
        let health = Health::new(Arc::new(Metrics::new("tcp", Arc::default())));
        let answer = |path: &str, not_ready: Option<&'static str>| {
            let answer = health.answer(path, None, &Told(not_ready));
            (answer.status.as_u16(), answer.body)
        };
        for (path, draining) in [("/livez", 200), ("/readyz", 503), ("/health", 503), ("/metrics", 200)] {
            assert_eq!(answer(path, None).0, 200, "{path}");
            assert_eq!(answer(path, Some("the server is ending")).0, draining, "{path}");
        }
        assert_eq!(answer("/readyz", Some("the server is ending")).1, "the server is ending\n");
        assert_eq!((answer("/", None).0, answer("/metrics/", None).0), (404, 404));
    }

    #[test]
    fn the_form_is_the_one_that_is_wanted() {
        let health = Health::new(Arc::new(Metrics::new("tcp", Arc::default())));
        let server = &Told(None);
        let accept = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5";
        let open = health.answer("/metrics", Some(accept), server);
        assert!(
            open.content_type.starts_with("application/openmetrics-text") && open.body.ends_with("# EOF\n")
        );
        for accept in [None, Some("*/*"), Some("text/plain")] {
            let plain = health.answer("/metrics", accept, server);
            assert!(plain.content_type.starts_with("text/plain; version=0.0.4"));
            assert!(!plain.body.contains("EOF"));
        }
    }
}
