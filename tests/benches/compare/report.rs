//! The table that is printed.

use std::cmp::Ordering;

/// What one measurement gave; numbers as text with their unit, `-` where there is none.
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// Of backburner.
    pub(crate) backburner: String,
    /// Of the rmcp server.
    pub(crate) rmcp: String,
    /// What no server can be better than on this machine.
    pub(crate) floor: String,
    /// What follows.
    pub(crate) judgement: Judgement,
}

/// A measurement and what was wanted of it.
pub(crate) struct Judgement {
    figure: String,
    budget: String,
    verdict: &'static str,
}

impl Judgement {
    /// A figure without a budget.
    pub(crate) fn only(figure: String) -> Self {
        Self {
            figure,
            budget: "-".to_owned(),
            verdict: "",
        }
    }

    /// A figure that should be at most so much.
    pub(crate) fn at_most(limit: f64, figure: f64, unit: &str) -> Self {
        Self {
            figure: format!("{figure:.2} {unit}"),
            budget: format!("<= {limit} {unit}"),
            verdict: verdict(figure.partial_cmp(&limit), Ordering::Less),
        }
    }

    /// A figure that should be at least so much.
    pub(crate) fn at_least(limit: f64, figure: f64, unit: &str) -> Self {
        Self {
            figure: format!("{figure:.2} {unit}"),
            budget: format!(">= {limit} {unit}"),
            verdict: verdict(figure.partial_cmp(&limit), Ordering::Greater),
        }
    }
}

/// A figure that is no number meets nothing.
fn verdict(figure_to_limit: Option<Ordering>, better: Ordering) -> &'static str {
    match figure_to_limit {
        Some(relation) if relation == better || relation == Ordering::Equal => "met",
        _ => "MISSED",
    }
}

const HEADINGS: [&str; 7] = [
    "measured",
    "backburner",
    "rmcp 3.11",
    "floor",
    "figure",
    "budget",
    "",
];

/// All rows as text, in columns.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut lines = vec![HEADINGS];
    lines.extend(rows.iter().map(cells));
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| widest(&lines, column))
        .collect();
    lines.iter().map(|cells| aligned(cells, &widths)).collect()
}

fn cells(row: &Row) -> [&str; 7] {
    [
        &row.what,
        &row.backburner,
        &row.rmcp,
        &row.floor,
        &row.judgement.figure,
        &row.judgement.budget,
        row.judgement.verdict,
    ]
}

fn widest(lines: &[[&str; 7]], column: usize) -> usize {
    lines
        .iter()
        .map(|cells| cells[column].len())
        .max()
        .unwrap_or(0)
}

fn aligned(cells: &[&str; 7], widths: &[usize]) -> String {
    let padded: Vec<String> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| format!("{cell:<width$}"))
        .collect();
    format!("{}\n", padded.join("  ").trim_end())
}
