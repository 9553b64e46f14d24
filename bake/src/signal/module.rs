//! The front end's tables as the text of a Rust module, for firmware: constants only, nothing that runs.

use super::Tables;
use microformer_packed::signal::{Complex, Gain, Log, Noise};
use std::fmt::Display;

impl Tables {
    /// The module's text: `FRONT_END`, the tables, and `FrontEndState`, the type of state that fits them exactly.
    pub fn module(&self) -> String {
        let front_end = self.front_end();
        let (fft, filterbank) = (front_end.fft, front_end.filterbank);
        let swaps: Vec<_> = fft.swaps.iter().map(list).collect();
        let rotations: Vec<_> = fft.rotations.iter().map(|stage| list(stage.map(complex))).collect();
        let weights: Vec<_> = filterbank.weights.iter().map(list).collect();
        format!(
            "/// From sound to features: the tables of the front end.\n\
             pub static FRONT_END: ::microformer::signal::FrontEnd<'static> = {{\n\
             use ::microformer::signal::*;\n\
             FrontEnd {{\n\
             window: Window {{ coefficients: &{}, step: {} }},\n\
             fft: Fft {{ swaps: &{}, rotations: &{}, untangle: &{} }},\n\
             filterbank: Filterbank {{ start: {}, widths: &{}, weights: &{} }},\n\
             noise: {},\n\
             gain: {},\n\
             log: {},\n\
             }}\n}};\n\n\
             /// What that front end remembers.\n\
             pub type FrontEndState = ::microformer::signal::State<{}, {}, {}>;\n",
            list(front_end.window.coefficients),
            front_end.window.step,
            list(swaps),
            list(rotations),
            list(fft.untangle.iter().copied().map(complex)),
            filterbank.start,
            list(filterbank.widths),
            list(weights),
            option(front_end.noise.map(noise)),
            option(front_end.gain.map(gain)),
            log(front_end.log),
            front_end.window.coefficients.len(),
            fft.points(),
            filterbank.channels(),
        )
    }
}

fn complex(value: Complex) -> String {
    format!("Complex::new({}, {})", value.re, value.im)
}

fn noise(noise: Noise) -> String {
    let Noise { smoothing_bits, even_smoothing, odd_smoothing, min_signal_remaining } = noise;
    format!(
        "Noise {{ smoothing_bits: {smoothing_bits}, even_smoothing: {even_smoothing}, odd_smoothing: {odd_smoothing}, \
         min_signal_remaining: {min_signal_remaining} }}"
    )
}

fn gain(gain: Gain) -> String {
    format!("Gain {{ parabolas: &{}, shift: {} }}", list(gain.parabolas.map(list)), gain.shift)
}

fn log(log: Log) -> String {
    format!("Log {{ scale_shift: {}, correction_bits: {} }}", log.scale_shift, log.correction_bits)
}

fn option(value: Option<String>) -> String {
    value.map_or("None".into(), |value| format!("Some({value})"))
}

fn list(values: impl IntoIterator<Item = impl Display>) -> String {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    format!("[{}]", values.join(", "))
}
