//! Metric: what is measured, as it is at one moment.

use crate::histogram::Histogram;
use crate::span::Attribute;
use std::sync::Arc;

pub struct Metric {
    pub name: &'static str,
    pub description: &'static str,
    /// As UCUM writes it: `s`, `{request}`.
    pub unit: &'static str,
    pub points: Points,
}

pub enum Points {
    Histogram(Vec<HistogramPoint>),
    /// A number that only grows.
    Counter(Vec<NumberPoint>),
    Gauge(Vec<NumberPoint>),
}

pub struct HistogramPoint {
    pub attributes: Vec<Attribute>,
    pub histogram: Arc<Histogram>,
}

pub struct NumberPoint {
    pub attributes: Vec<Attribute>,
    pub value: u64,
}
