//! A bar for each layer of a model: how long it is, and how much of it are products.

use crate::model::Measurement;
use std::fmt::Write;

const BAR_HEIGHT: usize = 18;
const ROW_HEIGHT: usize = 24;
const NAMES_WIDTH: usize = 260;
const BARS_WIDTH: usize = 520;
const MARGIN: usize = 40;

pub fn bars(name: &str, measurement: &Measurement) -> String {
    let layers = &measurement.layers;
    let longest = layers.iter().map(|layer| layer.cost.cycles).max().unwrap_or(0).max(1);
    let height = MARGIN + ROW_HEIGHT * layers.len() + MARGIN / 2;
    let width = NAMES_WIDTH + BARS_WIDTH + 3 * MARGIN;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"22\" font-size=\"15\">{name}: modelled Cortex-M4 cycles of one token, {} in all</text>\n",
        measurement.step.cycles
    );
    for (index, layer) in layers.iter().enumerate() {
        let top = MARGIN + ROW_HEIGHT * index;
        let middle = top + BAR_HEIGHT - 4;
        let cycles = layer.cost.cycles;
        let length = (cycles as f64 / longest as f64 * BARS_WIDTH as f64).max(1.0);
        let colour = if layer.macs > 0 { "#2f6f9f" } else { "#9fb8c8" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            picture,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{NAMES_WIDTH}\" y=\"{top}\" width=\"{length:.1}\" height=\"{BAR_HEIGHT}\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{middle}\">{cycles}</text>",
            NAMES_WIDTH - 8,
            layer.name,
            NAMES_WIDTH as f64 + length + 6.0,
        );
    }
    picture.push_str("</svg>\n");
    picture
}
