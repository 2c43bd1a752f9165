//! Markdown tables whose columns line up in plain text as well.

use std::fmt;

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A table that is built row by row and displayed as Markdown.
#[derive(Debug)]
pub struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = (String, Align)>) -> Self {
        let (titles, aligns) = columns.into_iter().unzip();
        Self { aligns, rows: vec![titles] }
    }

    /// Adds a row. Cells past the last column are dropped, missing ones stay empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.aligns.len(), String::new());
        self.rows.push(cells);
    }
}

/// The text of a cell whose value may be missing.
pub(crate) fn cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..self.aligns.len()).map(width).collect();
        for (index, row) in self.rows.iter().enumerate() {
            for ((cell, align), width) in row.iter().zip(&self.aligns).zip(&widths) {
                match align {
                    Align::Left => write!(formatter, "| {cell:<width$} ")?,
                    Align::Right => write!(formatter, "| {cell:>width$} ")?,
                }
            }
            writeln!(formatter, "|")?;
            if index == 0 {
                for (align, width) in self.aligns.iter().zip(&widths) {
                    match align {
                        Align::Left => write!(formatter, "|{:-<1$}", "", width + 2)?,
                        Align::Right => write!(formatter, "|{:-<1$}:", "", width + 1)?,
                    }
                }
                writeln!(formatter, "|")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new([("name".into(), Align::Left), ("µs".into(), Align::Right)]);
        table.row(vec!["a".into(), "1,234".into()]);
        table.row(vec!["longer".into()]);
        let expected = "| name   |    µs |\n|--------|------:|\n| a      | 1,234 |\n| longer |       |\n";
        assert_eq!(table.to_string(), expected);
    }
}
