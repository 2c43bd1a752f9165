//! Trace variables: the trace context of a call, in the environment of its script.

use mcp_bash_runner::Variables;

/// The members that are present are valid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceVariables {
    pub parent: Option<Box<str>>,
    pub state: Option<Box<str>>,
    pub baggage: Option<Box<str>>,
}

impl TraceVariables {
    /// The id of the trace, which is the second part of `traceparent`.
    pub fn trace_id(&self) -> Option<&str> {
        self.parent.as_deref()?.split('-').nth(1)
    }

    /// Adds the parts that are missing from `other`: the trace as a whole, and the baggage.
    pub fn or(&mut self, other: &Self) {
        if self.parent.is_none() {
            (self.parent, self.state) = (other.parent.clone(), other.state.clone());
        }
        if self.baggage.is_none() {
            self.baggage.clone_from(&other.baggage);
        }
    }

    pub(crate) fn set(&self, variables: &mut Variables) {
        let all = [("TRACEPARENT", &self.parent), ("TRACESTATE", &self.state), ("BAGGAGE", &self.baggage)];
        variables.extend(all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))));
    }
}
