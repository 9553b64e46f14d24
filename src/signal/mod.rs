//! Signal: sound in, feature frames out. 16-bit samples enter in pieces of any length; every step (10 ms as a rule) one
//! frame of 16-bit log energies leaves, one value per mel channel. Integers only, constant memory, no allocation.
//!
//! ```text
//! samples → window → FFT → filterbank (root of energy) → noise → gain → log → features u16 → normalize → i8
//!                                                      (optional)(optional)
//! ```
//!
//! With noise suppression and gain control on, the features are those of TensorFlow Lite Micro's "micro frontend", bit
//! for bit. Without them they are plain log-mel values. Each stage is one file with one function, `apply`; its tables
//! come from `microformer-bake`, which computes them from the settings in the model file.

pub mod fft;
pub mod filterbank;
pub mod gain;
pub mod log;
pub mod noise;
pub mod normalize;
pub mod window;

pub use microformer_packed::signal::{Complex, Fft, Filterbank, FrontEnd, Gain, Log, Noise, Normalize, Window};

/// What a front end remembers: the samples of the frame that is filling up, and each channel's noise estimate.
///
/// `WINDOW` is the number of window coefficients, `POINTS` half the transform's length, `CHANNELS` those of the
/// filterbank: `bake` writes the type that fits exactly, and a host tool that learns its settings at run time may take
/// one that is larger. The spectrum (4 · `POINTS` bytes) is on the stack while a frame is computed, so that it shares
/// its memory with whatever runs afterwards.
#[derive(Clone, Debug)]
pub struct State<const WINDOW: usize, const POINTS: usize, const CHANNELS: usize> {
    samples: [i16; WINDOW],
    filled: usize,
    estimates: [u32; CHANNELS],
}

impl<const WINDOW: usize, const POINTS: usize, const CHANNELS: usize> State<WINDOW, POINTS, CHANNELS> {
    /// Nothing heard yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { samples: [0; WINDOW], filled: 0, estimates: [0; CHANNELS] }
    }

    /// Takes samples until a frame is complete: then writes its features and returns `true`, leaving in `samples` those
    /// not taken yet. Returns `false` when it has taken all of them and waits for more. A front end too large for this
    /// state takes nothing.
    pub fn process(&mut self, front_end: &FrontEnd, samples: &mut &[i16], features: &mut [u16]) -> bool {
        let Some(window) = self.samples.get_mut(..front_end.window.coefficients.len()) else { return false };
        fill(window, &mut self.filled, samples) && self.frame(front_end, features)
    }

    // Never inlined, so that its stack is free again before anything else runs.
    #[inline(never)]
    fn frame(&mut self, front_end: &FrontEnd, features: &mut [u16]) -> bool {
        let (mut spectrum, mut channels) = ([Complex::ZERO; POINTS], [0; CHANNELS]);
        let (Some(window), Some(spectrum), Some(channels)) = (
            self.samples.get_mut(..front_end.window.coefficients.len()),
            spectrum.get_mut(..front_end.fft.points()),
            channels.get_mut(..front_end.filterbank.channels()),
        ) else {
            return false;
        };
        transform(front_end, window, spectrum, channels);
        finish(front_end, channels, &mut self.estimates, features);
        let step = front_end.window.step.min(window.len());
        window.copy_within(step.., 0);
        self.filled = self.filled.saturating_sub(step);
        true
    }
}

impl<const WINDOW: usize, const POINTS: usize, const CHANNELS: usize> Default for State<WINDOW, POINTS, CHANNELS> {
    fn default() -> Self {
        Self::new()
    }
}

/// Moves samples from the front of `input` until the window is full; says whether it is.
fn fill(window: &mut [i16], filled: &mut usize, input: &mut &[i16]) -> bool {
    let free = window.get_mut(*filled..).unwrap_or_default();
    let taken = free.len().min(input.len());
    let (now, later) = input.split_at_checked(taken).unwrap_or_default();
    for (place, sample) in free.iter_mut().zip(now) {
        *place = *sample;
    }
    *input = later;
    *filled += taken;
    *filled >= window.len()
}

/// A whole window of samples to the root energy of every channel; `spectrum` is working memory.
fn transform(front_end: &FrontEnd, samples: &[i16], spectrum: &mut [Complex], channels: &mut [u32]) {
    let bits = window::apply(&front_end.window, samples, spectrum);
    // The transform gets all the headroom there is in 16 bits; the filterbank takes it back.
    let shift = 15u32.saturating_sub(bits);
    fft::apply(&front_end.fft, spectrum, shift);
    filterbank::apply(&front_end.filterbank, spectrum, shift, channels);
}

/// From root energies to features; `estimates` lives on from frame to frame.
fn finish(front_end: &FrontEnd, channels: &mut [u32], estimates: &mut [u32], features: &mut [u16]) {
    if let Some(noise) = &front_end.noise {
        noise::apply(noise, channels, estimates);
        if let Some(gain) = &front_end.gain {
            gain::apply(gain, channels, estimates);
        }
    }
    log::apply(&front_end.log, channels, features);
}
