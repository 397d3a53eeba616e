//! Tables for people: columns as wide as their widest cell, the first column to the left, figures to the right.

use std::fmt::Display;

/// Lays out rows under their headings.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let mut text = line(headings, &widths);
    text.extend(rows.iter().map(|row| line(row, &widths)));
    text
}

/// One row of a table whose rows come one by one; cells that are wider than their column shift the others.
pub fn line(cells: &[impl Display], widths: &[usize]) -> String {
    let mut text = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let cell = if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
        text.push_str(&cell);
    }
    text.trim_end().to_owned() + "\n"
}

/// A change from `base` to `value` in signed percent.
pub fn change(value: f64, base: f64) -> String {
    if base > 0.0 { format!("{:+.0}%", 100.0 * (value / base - 1.0)) } else { "-".to_owned() }
}

/// A part as percent.
pub fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["fair".to_owned(), "1".to_owned()], vec!["b".to_owned(), "100 µs".to_owned()]];
        assert_eq!(table(&["policy", "t"], &rows), "policy       t\nfair         1\nb       100 µs\n");
    }

    #[test]
    fn changes_are_signed() {
        assert_eq!(
            (change(55.0, 100.0), change(2.0, 1.0), change(1.0, 0.0)),
            ("-45%".to_owned(), "+100%".to_owned(), "-".to_owned())
        );
    }
}
