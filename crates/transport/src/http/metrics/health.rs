//! Health endpoints: liveness, readiness and metrics.

use super::exposition::Format;
use super::{Gauges, Metrics};
use http::StatusCode;
use std::sync::Arc;

/// What is asked of a server that runs.
pub(in crate::http) trait Vital {
    /// Why no request should be sent, if none should. Waits for files.
    fn not_ready(&self) -> Option<String>;
    /// Why the store that servers share cannot be reached, if so. All of them miss it, so that no other server is better.
    fn store_problem(&self) -> Option<String>;
    fn gauges(&self) -> Gauges;
}

pub(in crate::http) struct Health {
    metrics: Arc<Metrics>,
}

/// What is answered.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) struct HealthAnswer {
    pub(in crate::http) status: StatusCode,
    pub(in crate::http) content_type: &'static str,
    pub(in crate::http) body: String,
}

impl HealthAnswer {
    /// Nobody could be asked.
    pub(in crate::http) fn failed() -> Self {
        said(StatusCode::SERVICE_UNAVAILABLE, "the server could not find out whether it is ready\n")
    }
}

/// The paths that tell whether the server takes requests.
const READINESS: [&str; 2] = ["/readyz", "/health"];

const TEXT: &str = "text/plain; charset=utf-8";

impl Health {
    pub(in crate::http) fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics }
    }

    /// Whether the answer to that path waits for files.
    pub(in crate::http) fn waits(path: &str) -> bool {
        READINESS.contains(&path)
    }

    /// Answers a GET of that path. `vital` is asked where it matters.
    pub(in crate::http) fn answer(
        &self,
        path: &str,
        accept: Option<&str>,
        vital: &impl Vital,
    ) -> HealthAnswer {
        match path {
            "/livez" => said(StatusCode::OK, "alive\n"),
            path if READINESS.contains(&path) => match vital.not_ready() {
                None => match vital.store_problem() {
                    None => said(StatusCode::OK, "ready\n"),
                    Some(why) => {
                        let body = format!("ready, but the shared store cannot be reached: {why}\n");
                        said(StatusCode::OK, &body)
                    }
                },
                Some(why) => said(StatusCode::SERVICE_UNAVAILABLE, &format!("{why}\n")),
            },
            "/metrics" => {
                let format = Format::wanted(accept);
                let body = self.metrics.render(&vital.gauges(), format);
                HealthAnswer { status: StatusCode::OK, content_type: format.content_type(), body }
            }
            _ => said(StatusCode::NOT_FOUND, "There are /livez, /readyz, /health and /metrics here\n"),
        }
    }
}

fn said(status: StatusCode, body: &str) -> HealthAnswer {
    HealthAnswer { status, content_type: TEXT, body: body.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(Option<&'static str>);

    impl Vital for Told {
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
        let vital = &Told(None);
        let accept = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5";
        let open = health.answer("/metrics", Some(accept), vital);
        assert!(
            open.content_type.starts_with("application/openmetrics-text") && open.body.ends_with("# EOF\n")
        );
        for accept in [None, Some("*/*"), Some("text/plain")] {
            let plain = health.answer("/metrics", accept, vital);
            assert!(plain.content_type.starts_with("text/plain; version=0.0.4"));
            assert!(!plain.body.contains("EOF"));
        }
    }
}
