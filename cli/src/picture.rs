//! Pictures as SVG text: matrices as coloured cells, with names along their sides. Written whole or not at all.

use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::path::Path;

/// Height of a line of text, and about twice the width of a letter.
const LINE: usize = 14;

/// An SVG that grows as parts are drawn on it.
#[derive(Default)]
pub struct Picture {
    body: String,
    width: usize,
    height: usize,
}

/// A matrix to be drawn: values in [0, 1], row by row.
pub struct Cells<'a> {
    pub rows: usize,
    pub columns: usize,
    pub shade: &'a dyn Fn(usize, usize) -> f64,
    /// Side of a cell.
    pub size: usize,
}

impl Picture {
    /// Draws text whose baseline begins at (x, y).
    pub fn text(&mut self, x: usize, y: usize, text: &str) {
        self.write(x, y, "start", "", text);
    }

    /// Draws text that ends at x.
    pub fn text_before(&mut self, x: usize, y: usize, text: &str) {
        self.write(x, y, "end", "", text);
    }

    /// Draws text centred on x, in a colour that can be read on a shade.
    pub fn text_on(&mut self, x: usize, y: usize, shade: f64, text: &str) {
        let fill = if shade > 0.5 { " fill=\"white\"" } else { "" };
        self.write(x, y, "middle", fill, text);
    }

    /// Draws text upwards from (x, y).
    pub fn text_up(&mut self, x: usize, y: usize, text: &str) {
        let turn = format!(" transform=\"rotate(-90 {x} {y})\"");
        self.write(x, y, "start", &turn, text);
    }

    fn write(&mut self, x: usize, y: usize, anchor: &str, more: &str, text: &str) {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{more}>{escaped}</text>");
        self.reach(x + if anchor == "start" && more.is_empty() { text.chars().count() * LINE / 2 } else { 0 }, y);
    }

    /// Draws cells with their top left corner at (x, y).
    pub fn cells(&mut self, x: usize, y: usize, cells: &Cells) {
        let size = cells.size;
        let (width, height) = (cells.columns * size, cells.rows * size);
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"white\" stroke=\"#888\"/>"
        );
        for row in 0..cells.rows {
            for column in 0..cells.columns {
                let shade = (cells.shade)(row, column);
                if shade > 0.0 {
                    let (x, y) = (x + column * size, y + row * size);
                    let _ = writeln!(
                        self.body,
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{size}\" height=\"{size}\" fill=\"{}\"/>",
                        colour(shade)
                    );
                }
            }
        }
        self.reach(x + width, y + height);
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[(f64, f64)], colour: &str) {
        let path: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for &(x, y) in points {
            self.reach(x.ceil() as usize, y.ceil() as usize);
        }
    }

    fn reach(&mut self, x: usize, y: usize) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// Writes the file.
    pub fn save(&self, path: &Path) -> Result<()> {
        check_name(path)?;
        let (width, height) = (self.width + LINE, self.height + LINE);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
            self.body
        );
        let unfinished = path.with_extension("unfinished");
        std::fs::write(&unfinished, text)
            .and_then(|()| std::fs::rename(&unfinished, path))
            .inspect_err(|_| drop(std::fs::remove_file(&unfinished)))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Pictures are SVG: said before long work, not after it.
pub fn check_name(path: &Path) -> Result<()> {
    ensure!(
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")),
        "{}: pictures are SVG; choose a name that ends in .svg",
        path.display()
    );
    Ok(())
}

/// White to dark blue.
fn colour(shade: f64) -> String {
    let shade = shade.clamp(0.0, 1.0);
    let mix = |from: f64, to: f64| (from + (to - from) * shade).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(255.0, 8.0), mix(255.0, 48.0), mix(255.0, 107.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_run_from_white_to_blue() {
        assert_eq!(colour(0.0), "#ffffff");
        assert_eq!(colour(1.0), "#08306b");
        assert_eq!(colour(9.0), "#08306b");
    }

    #[test]
    fn names_are_escaped() {
        let mut picture = Picture::default();
        picture.text(0, 0, "a<b & c");
        assert!(picture.body.contains("a&lt;b &amp; c"));
    }
}
