//! An evaluation as text and as a picture.

use super::Report;
use super::figures::Figures;
use crate::picture::{Cells, Picture};

/// Labels beyond which tables of labels say nothing any more.
const SHOWN: usize = 40;

pub fn report(report: &Report) {
    println!(
        "{} on {}: {} {}",
        report.model,
        report.data,
        report.sequences,
        if report.sequences == 1 { "sequence" } else { "sequences" }
    );
    for (name, figures) in [("float", &report.float), ("integer", &report.integer)] {
        if let Some(figures) = figures {
            println!(
                "{name:8} accuracy {:.2} % ({} of {} {}), loss {:.4}",
                100.0 * figures.accuracy,
                figures.correct,
                figures.total,
                report.unit,
                figures.loss
            );
            if let Some(stretches) = &figures.stretches {
                println!(
                    "{:8} stretches of one label: {:.2} % ({} of {})",
                    "",
                    100.0 * stretches.accuracy,
                    stretches.correct,
                    stretches.total
                );
            }
        }
    }
    if let Some(difference) = &report.difference {
        let sqnr =
            difference.score_sqnr_db.map_or("equal scores".to_owned(), |sqnr| format!("score SQNR {sqnr:.1} dB"));
        println!(
            "float and integer disagree on {} of {} ({:.2} %); {sqnr}",
            difference.disagreements,
            difference.decisions,
            100.0 * difference.disagreements as f64 / difference.decisions.max(1) as f64
        );
    }
    if let Some(chip) = &report.qemu {
        println!(
            "QEMU     accuracy {:.2} % ({} of {}) on {}; {} of {} with the same scores as here, bit for bit",
            100.0 * chip.figures.accuracy,
            chip.figures.correct,
            chip.figures.total,
            chip.board,
            chip.identical,
            chip.sequences
        );
    }
    println!("{:.2} s", report.seconds);
    if let Some(figures) = report.integer.as_ref().or(report.float.as_ref())
        && report.labels.len() <= SHOWN
    {
        classes(figures);
        confusion(figures, &report.labels);
    }
}

fn classes(figures: &Figures) {
    let percent = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |ratio| format!("{:.1} %", 100.0 * ratio));
    println!("\n{:20} {:>6} {:>10} {:>10}", "label", "count", "precision", "recall");
    for class in &figures.classes {
        println!("{:20} {:6} {:>10} {:>10}", class.label, class.total, percent(class.precision), percent(class.recall));
    }
}

fn confusion(figures: &Figures, labels: &[String]) {
    let short = |label: &str| label.chars().take(6).collect::<String>();
    println!("\nconfusion (rows: labelled, columns: found)");
    let header: Vec<_> = labels.iter().map(|label| format!("{:>6}", short(label))).collect();
    println!("{:20} {}", "", header.join(" "));
    for (label, row) in labels.iter().zip(&figures.confusion) {
        let cells: Vec<_> =
            row.iter().map(|&count| if count == 0 { format!("{:>6}", "·") } else { format!("{count:6}") }).collect();
        println!("{label:20} {}", cells.join(" "));
    }
}

/// Each row shaded by its share of what was labelled so.
pub fn confusion_picture(figures: &Figures, labels: &[String]) -> Picture {
    let count = figures.confusion.len();
    let size = if count <= SHOWN { 32 } else { 4 };
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).min(24);
    let margin = 30 + longest * 7;
    let (left, top) = (margin, margin + 30);
    let share = |row: usize, column: usize| {
        let total: usize = figures.confusion[row].iter().sum();
        figures.confusion[row][column] as f64 / total.max(1) as f64
    };
    let mut picture = Picture::default();
    picture.text(
        10,
        20,
        &format!("labelled (down), found (across): {:.2} % of {} right", 100.0 * figures.accuracy, figures.total),
    );
    picture.cells(left, top, &Cells { rows: count, columns: count, shade: &share, size });
    if count > SHOWN {
        return picture;
    }
    for (index, label) in labels.iter().enumerate() {
        picture.text_before(left - 6, top + index * size + 20, label);
        picture.text_up(left + index * size + 20, top - 6, label);
        for (column, &found) in figures.confusion[index].iter().enumerate() {
            if found > 0 {
                let (x, y) = (left + column * size + size / 2, top + index * size + 20);
                picture.text_on(x, y, share(index, column), &found.to_string());
            }
        }
    }
    picture
}
