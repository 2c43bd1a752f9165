use super::*;

fn read(given: &[(&str, &str)]) -> (Option<Config>, Vec<String>) {
    let get = |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let (config, problems) = Config::read(get);
    (config, problems.iter().map(ToString::to_string).collect())
}

const ENDPOINT: (&str, &str) = (GENERAL.endpoint, "http://collector:4318");

#[test]
fn nothing_is_exported_without_an_endpoint() {
    assert!(!is_requested(|_| false) && is_requested(|name| name == METRICS.endpoint));
    for given in [
        &[][..],
        &[("OTEL_SERVICE_NAME", "x"), ("OTEL_TRACES_SAMPLER", "nonsense")],
        &[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")],
        &[ENDPOINT, (TRACES.exporter, "none"), (METRICS.exporter, "none")],
        &[(GENERAL.endpoint, " ")],
    ] {
        let (config, problems) = read(given);
        assert!(config.is_none() && problems.is_empty(), "{given:?} {problems:?}");
    }
    assert!(read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "1")]).0.is_some(), "only `true` is true");
}

#[test]
fn the_general_endpoint_gets_a_path_and_the_own_one_does_not() {
    let url = |signal: &Option<Signal>| signal.as_ref().map(|signal| signal.url.to_string());
    for (base, traces) in [
        ("http://collector:4318", "http://collector:4318/v1/traces"),
        ("https://a.example/otlp/", "https://a.example/otlp/v1/traces"),
    ] {
        let (config, problems) = read(&[(GENERAL.endpoint, base)]);
        assert_eq!((url(&config.unwrap().traces).as_deref(), problems.len()), (Some(traces), 0));
    }
    let (config, _) = read(&[(METRICS.endpoint, "http://10.0.0.1:4318/x")]);
    let config = config.unwrap();
    assert_eq!((url(&config.traces), config.has_metrics()), (None, true));
    assert_eq!(url(&config.metrics).as_deref(), Some("http://10.0.0.1:4318/x"));
}

#[test]
fn own_variables_override_general_ones() {
    let (config, problems) = read(&[
        ENDPOINT,
        (GENERAL.headers, "a=1,api-key=s%20t"),
        (METRICS.headers, "b=2"),
        (GENERAL.timeout, "300"),
        (TRACES.timeout, "200"),
        (GENERAL.protocol, "grpc"),
        (TRACES.protocol, "http/json"),
        (METRICS.protocol, "http/json"),
    ]);
    let config = config.unwrap();
    let (traces, metrics) = (config.traces.unwrap(), config.metrics.unwrap());
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        (traces.headers, metrics.headers),
        (vec![header("a", "1"), header("api-key", "s t")], vec![header("b", "2")])
    );
    assert_eq!((traces.timeout.as_millis(), metrics.timeout.as_millis()), (200, 300));
    assert_eq!(problems, [""; 0]);
}

#[test]
fn protocols_that_are_not_spoken_are_named() {
    let (config, problems) = read(&[ENDPOINT, (GENERAL.protocol, "grpc")]);
    assert!(
        config.is_none() && problems[0].contains("`grpc`") && problems[0].contains("4318"),
        "{problems:?}"
    );
    let (config, problems) = read(&[ENDPOINT, (GENERAL.protocol, "http/protobuf")]);
    assert!(config.is_some() && problems[0].contains("`http/json` is used"), "{problems:?}");
}

#[test]
fn wrong_values_are_named_and_defaults_are_used() {
    let (config, problems) = read(&[
        ENDPOINT,
        (GENERAL.timeout, "soon"),
        (GENERAL.headers, "a=1,secret,b=%0ax"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
        ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
        ("OTEL_RESOURCE_ATTRIBUTES", "a=b,nothing"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "99999999999999999999"),
    ]);
    let config = config.unwrap();
    assert_eq!(config.batches, Batches { queue: 2048, size: 512, delay: Duration::from_secs(5) });
    assert_eq!(config.metric_interval, Duration::from_secs(60));
    assert_eq!(config.traces.unwrap().headers.len(), 1);
    let all = problems.join("\n");
    for name in ["TIMEOUT", "header 2", "header 3", "QUEUE_SIZE", "SCHEDULE_DELAY", "attribute 2", "INTERVAL"]
    {
        assert!(all.contains(name), "{name} is not in {all}");
    }
    assert!(!all.contains("secret"), "values of headers are not shown: {all}");
    for wrong in ["collector:4318", "ftp://x", "http://a b", "http://"] {
        let (config, problems) = read(&[(GENERAL.endpoint, wrong)]);
        assert!(config.is_none() && problems[0].contains(GENERAL.endpoint), "{wrong} {problems:?}");
    }
    let (_, problems) = read(&[(GENERAL.endpoint, "http://me:hush@hush@collector:4318")]);
    assert!(problems[0].contains("…@collector:4318") && !problems[0].contains("hush"), "{problems:?}");
}

#[test]
fn a_certificate_that_cannot_be_used_stops_the_export() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing").unwrap();
    for (path, said) in [(folder.path().join("missing.pem"), "failed to read"), (empty, "no certificate")] {
        let (config, problems) = read(&[ENDPOINT, (GENERAL.certificate, path.to_str().unwrap())]);
        assert!(config.is_none() && problems[0].contains(said), "{problems:?}");
    }
}

#[test]
fn the_service_name_overrides_the_attribute() {
    let attributes = "service.name=a,deployment.environment=x%2Cy";
    let given = [ENDPOINT, ("OTEL_RESOURCE_ATTRIBUTES", attributes), ("OTEL_SERVICE_NAME", "b")];
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let (config, _) = read(&given);
    assert_eq!(config.unwrap().resource, [pair("deployment.environment", "x,y"), pair("service.name", "b")]);
}

#[test]
fn content_is_captured_only_if_the_operator_says_so() {
    let name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    for (value, is_captured) in [("true", true), ("SPAN_ONLY", true), ("false", false), ("event_only", false)]
    {
        assert_eq!(read(&[ENDPOINT, (name, value)]).0.unwrap().captures_content, is_captured, "{value}");
    }
    assert!(!read(&[ENDPOINT]).0.unwrap().captures_content);
}
