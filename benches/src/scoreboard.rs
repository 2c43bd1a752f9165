//! Scoreboard: one value per round for every server and measure, and the table of their medians.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::statistics::median;
use crate::table::cell;
use crate::{Align, Failure, Table};

/// A measured quantity, and the format of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    pub name: &'static str,
    pub unit: &'static str,
    pub decimals: usize,
}

impl Measure {
    pub fn title(self) -> String {
        if self.unit.is_empty() { self.name.to_owned() } else { format!("{}, {}", self.name, self.unit) }
    }

    pub fn format(self, value: f64) -> String {
        with_separators(&format!("{value:.*}", self.decimals))
    }
}

/// Puts a comma between each group of three digits before the decimal point.
fn with_separators(number: &str) -> String {
    let whole = number.split('.').next().unwrap_or(number).len();
    let mut text = String::new();
    for (index, character) in number.chars().enumerate() {
        if index > 0 && index < whole && (whole - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(character);
    }
    text
}

/// The values of all rounds, by server and measure.
#[derive(Debug, Default)]
pub struct Scoreboard(BTreeMap<(String, Measure), Vec<f64>>);

impl Scoreboard {
    /// The values of so many rounds, each of which `round` measures.
    pub fn of_rounds(
        rounds: u32,
        mut round: impl FnMut(&mut Self) -> Result<(), Failure>,
    ) -> Result<Self, String> {
        let mut scores = Self::default();
        for number in 1..=rounds {
            eprintln!("round {number} of {rounds}");
            round(&mut scores).map_err(|failure| failure.to_string())?;
        }
        Ok(scores)
    }

    /// Adds the value of one round.
    pub fn add(&mut self, server: &str, measure: Measure, value: f64) {
        self.0.entry((server.to_owned(), measure)).or_default().push(value);
    }

    fn rounds(&self, server: &str, measure: Measure) -> Option<&[f64]> {
        self.0.get(&(server.to_owned(), measure)).map(Vec::as_slice)
    }

    pub fn median(&self, server: &str, measure: Measure) -> Option<f64> {
        self.rounds(server, measure).map(median)
    }

    /// The median of the ratios of each round. It is steadier than the ratio of the medians: a slow moment of
    /// the machine slows both servers of a round, and so does not change their ratio.
    pub fn ratio(&self, server: &str, other: &str, measure: Measure) -> Option<f64> {
        let pairs = self.rounds(server, measure)?.iter().zip(self.rounds(other, measure)?);
        Some(median(&pairs.map(|(value, other)| value / other).collect::<Vec<_>>()))
    }

    /// A row for each server with its medians, and a dash for missing values.
    pub fn table(&self, servers: &[&str], measures: &[Measure]) -> Table {
        let columns = measures.iter().map(|measure| (measure.title(), Align::Right));
        let mut table = Table::new([("server".to_owned(), Align::Left)].into_iter().chain(columns));
        for &server in servers {
            let value = |&measure: &Measure| cell(self.median(server, measure).map(|it| measure.format(it)));
            table.row([server.to_owned()].into_iter().chain(measures.iter().map(value)).collect());
        }
        table
    }

    pub fn to_json(&self) -> Value {
        let mut servers = Map::new();
        for ((server, measure), rounds) in &self.0 {
            let entry = servers.entry(server.as_str()).or_insert_with(|| json!({}));
            entry[measure.title()] = json!({ "median": median(rounds), "rounds": rounds });
        }
        Value::Object(servers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEED: Measure = Measure { name: "speed", unit: "km/h", decimals: 1 };

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(SPEED.format(1_234_567.89), "1,234,567.9");
        assert_eq!(SPEED.format(123.0), "123.0");
        assert_eq!(Measure { decimals: 0, ..SPEED }.format(1000.4), "1,000");
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "these values have exact representations")]
    fn a_ratio_pairs_the_rounds() {
        let mut scores = Scoreboard::default();
        for (a, b) in [(2.0, 1.0), (8.0, 4.0), (1.0, 8.0)] {
            scores.add("a", SPEED, a);
            scores.add("b", SPEED, b);
        }
        assert_eq!(scores.median("a", SPEED).unwrap(), 2.0);
        assert_eq!(scores.ratio("a", "b", SPEED).unwrap(), 2.0);
        assert_eq!(scores.ratio("a", "c", SPEED), None);
    }
}
