//! Sampler: which traces are recorded.

use crate::problem::Problem;
use crate::span_context::SpanContext;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Whether the caller's decision counts, if it sends one.
    follows_parent: bool,
    /// The share of traces, from 0 to 1.
    ratio: f64,
}

impl Sampler {
    /// Reads `OTEL_TRACES_SAMPLER` and its argument.
    pub(crate) fn read(name: Option<&str>, argument: Option<&str>, problems: &mut Vec<Problem>) -> Self {
        let (follows_parent, rest) = match name.map(|name| name.strip_prefix("parentbased_").ok_or(name)) {
            None => (true, "always_on"),
            Some(Ok(rest)) => (true, rest),
            Some(Err(name)) => (false, name),
        };
        let ratio = match rest {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => ratio(argument, problems),
            _ => {
                problems.push(Problem::Sampler(name.unwrap_or_default().to_owned()));
                return Self { follows_parent: true, ratio: 1.0 };
            }
        };
        Self { follows_parent, ratio }
    }

    pub fn samples(&self, trace: [u8; 16], parent: Option<SpanContext>) -> bool {
        match parent {
            Some(parent) if self.follows_parent => parent.is_sampled,
            _ => self.takes(trace),
        }
    }

    /// Decided by the random last 7 bytes of the id of the trace, as W3C Trace Context 2 has it, so that all who take part
    /// decide alike.
    #[expect(clippy::cast_precision_loss, reason = "53 bits of a random number are enough")]
    fn takes(&self, trace: [u8; 16]) -> bool {
        let random = trace[9..].iter().fold(0_u64, |random, byte| random << 8 | u64::from(*byte));
        random as f64 >= (1.0 - self.ratio) * (1_u64 << 56) as f64
    }
}

fn ratio(argument: Option<&str>, problems: &mut Vec<Problem>) -> f64 {
    let Some(argument) = argument else { return 1.0 };
    match argument.parse::<f64>() {
        Ok(ratio) if (0.0..=1.0).contains(&ratio) => ratio,
        _ => {
            problems.push(Problem::Ratio(argument.to_owned()));
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids;

    fn sampler(name: &str, argument: Option<&str>) -> (Sampler, Vec<String>) {
        let mut problems = Vec::new();
        let sampler = Sampler::read(Some(name), argument, &mut problems);
        (sampler, problems.iter().map(ToString::to_string).collect())
    }

    fn parent(is_sampled: bool) -> SpanContext {
        SpanContext { trace: [1; 16], span: [2; 8], is_sampled }
    }

    #[test]
    fn the_parent_decides_unless_it_is_not_asked() {
        for (name, alone, of_sampled, of_unsampled) in [
            ("always_on", true, true, true),
            ("always_off", false, false, false),
            ("parentbased_always_on", true, true, false),
            ("parentbased_always_off", false, true, false),
            ("traceidratio", true, true, true),
        ] {
            let (sampler, problems) = sampler(name, None);
            let decided = [None, Some(parent(true)), Some(parent(false))]
                .map(|parent| sampler.samples([1; 16], parent));
            assert_eq!((decided, problems.len()), ([alone, of_sampled, of_unsampled], 0), "{name}");
        }
    }

    #[test]
    fn a_ratio_takes_about_its_share() {
        let (sampler, _) = sampler("parentbased_traceidratio", Some("0.25"));
        let taken = (0..4000).filter(|_| sampler.samples(ids::id().unwrap(), None)).count();
        assert!((700..1300).contains(&taken), "{taken}");
    }

    #[test]
    fn wrong_values_sample_everything_and_are_named() {
        let (chosen, problems) = sampler("jaeger_remote", None);
        assert!(chosen.samples([0; 16], None) && problems[0].contains("`jaeger_remote`"), "{problems:?}");
        for wrong in ["2", "-1", "half", "NaN"] {
            let (chosen, problems) = sampler("traceidratio", Some(wrong));
            assert!(chosen.samples([0; 16], None) && problems[0].contains(wrong), "{problems:?}");
        }
    }
}
