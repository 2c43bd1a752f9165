//! Aims: the targets of one server in comparison with others, and the table that shows whether it met them.

use serde_json::{Value, json};

use crate::scoreboard::{Measure, Scoreboard};
use crate::table::cell;
use crate::{Align, Table};

/// On which side of the limit a value should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    AtMost,
    AtLeast,
}

/// A limit for one measure: a multiple of another server's value, or an absolute value.
#[derive(Debug, Clone, Copy)]
pub struct Aim {
    pub measure: Measure,
    pub bound: Bound,
    pub limit: f64,
    /// The server whose value the limit multiplies.
    pub times: Option<&'static str>,
}

impl Aim {
    fn text(&self) -> String {
        let sign = match self.bound {
            Bound::AtMost => '≤',
            Bound::AtLeast => '≥',
        };
        match self.times {
            Some(other) => format!("{sign} {} × {other}", self.limit),
            None => format!("{sign} {} {}", self.limit, self.measure.unit),
        }
    }

    /// None if the values it needs were not measured.
    fn is_reached(&self, server: &str, scores: &Scoreboard) -> Option<bool> {
        let value = match self.times {
            Some(other) => scores.ratio(server, other, self.measure)?,
            None => scores.median(server, self.measure)?,
        };
        Some(match self.bound {
            Bound::AtMost => value <= self.limit,
            Bound::AtLeast => value >= self.limit,
        })
    }
}

/// How one server compares with others.
#[derive(Debug)]
pub struct Comparison<'a> {
    pub server: &'a str,
    pub others: &'a [&'a str],
    pub measures: &'a [Measure],
    pub aims: &'a [Aim],
    pub scores: &'a Scoreboard,
}

impl Comparison<'_> {
    /// A row for each measure with the ratios to the others; one row per aim if there are several.
    pub fn table(&self) -> Table {
        self.table_of(&[self.server])
    }

    /// The same with the values of the others as well, so that no second table is needed.
    pub fn whole_table(&self) -> Table {
        self.table_of(&[&[self.server], self.others].concat())
    }

    fn table_of(&self, servers: &[&str]) -> Table {
        let left = |title: &str| (title.to_owned(), Align::Left);
        let right = |title: String| (title, Align::Right);
        let values = servers.iter().map(|&server| right(server.to_owned()));
        let ratios = self.others.iter().map(|other| right(format!("÷ {other}")));
        let columns = [left("measure")].into_iter().chain(values).chain(ratios);
        let mut table = Table::new(columns.chain([left("aim"), left("reached")]));
        for (measure, aim) in self.rows() {
            let reached = aim.and_then(|aim| aim.is_reached(self.server, self.scores));
            let mut row = vec![measure.title()];
            row.extend(
                servers
                    .iter()
                    .map(|server| cell(self.scores.median(server, measure).map(|it| measure.format(it)))),
            );
            row.extend(self.others.iter().map(|other| {
                cell(self.scores.ratio(self.server, other, measure).map(|ratio| format!("{ratio:.2}")))
            }));
            row.push(cell(aim.map(Aim::text)));
            row.push(cell(reached.map(|reached| if reached { "yes" } else { "no" }.to_owned())));
            table.row(row);
        }
        table
    }

    pub fn to_json(&self) -> Value {
        let row = |(measure, aim): (Measure, Option<&Aim>)| {
            let ratio =
                |&other: &&str| (other.to_owned(), json!(self.scores.ratio(self.server, other, measure)));
            json!({
                "measure": measure.title(),
                "value": self.scores.median(self.server, measure),
                "ratios": self.others.iter().map(ratio).collect::<serde_json::Map<_, _>>(),
                "aim": aim.map(Aim::text),
                "reached": aim.and_then(|aim| aim.is_reached(self.server, self.scores)),
            })
        };
        Value::Array(self.rows().into_iter().map(row).collect())
    }

    fn rows(&self) -> Vec<(Measure, Option<&Aim>)> {
        let mut rows = Vec::new();
        for &measure in self.measures {
            let before = rows.len();
            let aims = self.aims.iter().filter(|aim| aim.measure == measure);
            rows.extend(aims.map(|aim| (measure, Some(aim))));
            if rows.len() == before {
                rows.push((measure, None));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Measure = Measure { name: "start", unit: "ms", decimals: 1 };
    const SIZE: Measure = Measure { name: "size", unit: "MB", decimals: 1 };

    #[test]
    fn aims_are_judged_and_missing_values_are_not() {
        let mut scores = Scoreboard::default();
        scores.add("ours", START, 3.0);
        scores.add("theirs", START, 2.0);
        let aim = |measure, bound, limit, times| Aim { measure, bound, limit, times };
        let aims = [
            aim(START, Bound::AtMost, 1.5, Some("theirs")),
            aim(START, Bound::AtLeast, 4.0, None),
            aim(SIZE, Bound::AtMost, 8.0, None),
        ];
        let comparison = Comparison {
            server: "ours",
            others: &["theirs"],
            measures: &[START, SIZE],
            aims: &aims,
            scores: &scores,
        };
        let expected = "\
| measure   | ours | ÷ theirs | aim            | reached |
|-----------|-----:|---------:|----------------|---------|
| start, ms |  3.0 |     1.50 | ≤ 1.5 × theirs | yes     |
| start, ms |  3.0 |     1.50 | ≥ 4 ms         | no      |
| size, MB  |    – |        – | ≤ 8 MB         | –       |
";
        assert_eq!(comparison.table().to_string(), expected);
        let whole = comparison.whole_table().to_string();
        assert!(
            whole.contains("| start, ms |  3.0 |    2.0 |     1.50 | ≤ 1.5 × theirs | yes     |"),
            "{whole}"
        );
    }
}
