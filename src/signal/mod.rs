//! Signal: sound in, feature frames out. 16-bit samples enter in pieces of any length; every step (10 ms as a rule) one
//! frame of 16-bit log energies leaves, one value per mel channel. Integers only, constant memory, no allocation.
//!
//! ```text
//! samples → window → FFT → filterbank (root of energy) → noise → gain → log → features u16 → normalize → i8
//!                                                        optional  optional
//! ```
//!
//! With noise suppression and gain control on, the features are those of TensorFlow Lite Micro's "micro frontend", bit
//! for bit. Without them they are plain log-mel values. The tables come from `microformer-bake`, which computes them
//! from the settings in the model file.

pub mod fft;
pub mod filterbank;
pub mod gain;
pub mod log;
pub mod noise;
pub mod quantize;
pub mod window;

pub use fft::{Complex, Fft};
pub use filterbank::Filterbank;
pub use gain::Gain;
pub use log::Log;
pub use noise::Noise;
pub use quantize::Normalize;
pub use window::Window;

/// What the stages do: constants and tables only, so it lives in flash. What they remember is a [`State`].
#[derive(Clone, Copy, Debug)]
pub struct FrontEnd<'a> {
    /// The taper of a frame, and the step from frame to frame.
    pub window: Window<'a>,
    /// The transform.
    pub fft: Fft<'a>,
    /// The mel channels.
    pub filterbank: Filterbank<'a>,
    /// Noise suppression, where the model asks for it.
    pub noise: Option<Noise>,
    /// Gain control, where the model asks for it; it works on the estimates of `noise`, so it needs that too.
    pub gain: Option<Gain<'a>>,
    /// The logarithm.
    pub log: Log,
}

/// What a front end remembers: the samples of the frame that is filling up, and each channel's noise estimate.
///
/// `WINDOW` is the number of window coefficients, `POINTS` half the transform's length, `CHANNELS` those of the
/// filterbank; `bake` writes the type that fits. The spectrum (4 · `POINTS` bytes) is on the stack while a frame is
/// computed, so that it shares its memory with whatever runs afterwards.
#[derive(Clone, Debug)]
pub struct State<const WINDOW: usize, const POINTS: usize, const CHANNELS: usize> {
    samples: [i16; WINDOW],
    filled: usize,
    estimates: [u32; CHANNELS],
}

impl<const WINDOW: usize, const POINTS: usize, const CHANNELS: usize> State<WINDOW, POINTS, CHANNELS> {
    /// Nothing heard yet.
    pub const fn new() -> Self {
        Self { samples: [0; WINDOW], filled: 0, estimates: [0; CHANNELS] }
    }

    /// Takes samples until a frame is complete: then writes its features and returns `true`, leaving in `samples` those
    /// not taken yet. Returns `false` when it has taken all of them and waits for more.
    pub fn process(&mut self, front_end: &FrontEnd<'_>, samples: &mut &[i16], features: &mut [u16; CHANNELS]) -> bool {
        let mut history = History { samples: &mut self.samples, filled: &mut self.filled };
        if !history.fill(samples) {
            return false;
        }
        let mut spectrum = [Complex::ZERO; POINTS];
        let mut channels = [0; CHANNELS];
        front_end.transform(history.samples, &mut spectrum, &mut channels);
        front_end.finish(&mut channels, &mut self.estimates, features);
        history.advance(front_end.window.step);
        true
    }
}

impl<const WINDOW: usize, const POINTS: usize, const CHANNELS: usize> Default for State<WINDOW, POINTS, CHANNELS> {
    fn default() -> Self {
        Self::new()
    }
}

impl FrontEnd<'_> {
    /// A whole window of samples to the root energy of every channel; `spectrum` is working memory.
    pub fn transform(&self, samples: &[i16], spectrum: &mut [Complex], channels: &mut [u32]) {
        let largest = self.window.apply(samples, spectrum);
        // The transform gets all 16 bits of headroom there are; the filterbank takes them back.
        let shift = 15u32.saturating_sub(u16::BITS - largest.leading_zeros());
        self.fft.apply(spectrum, shift);
        self.filterbank.apply(spectrum, shift, channels);
    }

    /// From root energies to features; `estimates` lives on from frame to frame.
    pub fn finish(&self, channels: &mut [u32], estimates: &mut [u32], features: &mut [u16]) {
        if let Some(noise) = &self.noise {
            noise.apply(channels, estimates);
            if let Some(gain) = &self.gain {
                gain.apply(channels, estimates);
            }
        }
        self.log.apply(channels, features);
    }
}

/// The window's worth of samples that is being collected, whoever owns it.
pub struct History<'a> {
    /// As many as the window has coefficients; those before `filled` have been heard.
    pub samples: &'a mut [i16],
    /// How many samples are there.
    pub filled: &'a mut usize,
}

impl History<'_> {
    /// Moves samples from the front of `input` until the window is full; says whether it is.
    pub fn fill(&mut self, input: &mut &[i16]) -> bool {
        let wanted = self.samples.len().saturating_sub(*self.filled);
        let taken = wanted.min(input.len());
        if let (Some((now, later)), Some(free)) = (input.split_at_checked(taken), self.samples.get_mut(*self.filled..))
        {
            for (place, sample) in free.iter_mut().zip(now) {
                *place = *sample;
            }
            *input = later;
            *self.filled += taken;
        }
        *self.filled >= self.samples.len()
    }

    /// Drops the oldest `step` samples.
    pub fn advance(&mut self, step: usize) {
        let step = step.min(self.samples.len());
        self.samples.copy_within(step.., 0);
        *self.filled = self.filled.saturating_sub(step);
    }
}
