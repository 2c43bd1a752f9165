//! Telemetry: starts and ends the export of spans and metrics.

use super::server::Server;
use crate::logging::{Moment, Network, Tracer, exported_metrics};
use mcp_bash_telemetry::{Config, Exporter, Metric, News, Resource};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::io;
use std::sync::{Arc, Weak};

impl Server {
    /// Exports spans and metrics from now on. `network` is how clients reach the server.
    pub fn start_telemetry(self: &Arc<Self>, config: Config, network: Network) -> io::Result<()> {
        if config.has_metrics() {
            self.measurements();
        }
        let (sampler, captures_content) = (config.sampler, config.captures_content);
        let snapshot = self.snapshot();
        let identity = &snapshot.catalog.identity;
        let resource = Resource { service_name: &identity.name, service_version: &identity.version };
        // The exporter's thread must not keep the server alive.
        let (measured, told) = (Arc::downgrade(self), Arc::downgrade(self));
        let exporter = Exporter::start(
            config,
            resource,
            move || collect(&measured, network),
            move |news| tell(&told, &news),
        )?;
        self.set_tracer(Tracer {
            exporter,
            sampler,
            captures_content,
            network,
            known_secrets: Arc::clone(self.scripts().known_secrets()),
        });
        Ok(())
    }

    /// Exports the rest, for a limited time. Call it after the server has ended.
    pub fn end_telemetry(&self) {
        if let Some(tracer) = self.tracer() {
            tracer.close();
        }
    }
}

fn collect(server: &Weak<Server>, network: Network) -> Vec<Metric> {
    let Some(server) = server.upgrade() else { return Vec::new() };
    let load = server.load();
    let processes = mcp_bash_runner::processes_started();
    let moment = Moment { processes, running: load.running, waiting: load.waiting, parked: load.parked };
    exported_metrics::metrics(server.measurements(), network, moment)
}

fn tell(server: &Weak<Server>, news: &News) {
    let Some(server) = server.upgrade() else { return };
    let (level, message, details) = match news {
        News::Fails { signal, why } => {
            let message = "telemetry cannot be exported; it is tried again";
            (LogLevel::Warning, message, json!({ "signal": signal, "error": why }))
        }
        News::Works { signal, lost } => {
            (LogLevel::Notice, "telemetry is exported again", json!({ "signal": signal, "lostSpans": lost }))
        }
        News::Rejected { signal, why } => {
            let message = "the collector did not take all telemetry";
            (LogLevel::Warning, message, json!({ "signal": signal, "error": why }))
        }
    };
    server.log().event(level, "mcp.telemetry", message, &details);
}
