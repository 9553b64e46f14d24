//! The front end's tables: what each stage between the microphone and the model's input is to do.
//!
//! Constants only, so all of it lives in flash; `bake` computes them from the settings in the model file.

/// A complex value of two 16-bit halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(4))]
pub struct Complex {
    /// Real part.
    pub re: i16,
    /// Imaginary part.
    pub im: i16,
}

impl Complex {
    /// 0 + 0i.
    pub const ZERO: Self = Self::new(0, 0);

    /// re + im·i.
    #[must_use]
    pub const fn new(re: i16, im: i16) -> Self {
        Self { re, im }
    }
}

/// All stages, in the order in which sound passes them.
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

/// The taper that each frame is multiplied by, and how far frames lie apart.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// One per sample of the frame, 0..=4096; their number is the window's length, which is even.
    pub coefficients: &'a [i16],
    /// Samples from the start of one frame to the start of the next, at most the window's length.
    pub step: usize,
}

impl Window<'_> {
    /// Fractional bits of a coefficient: 4096 is one.
    pub const COEFFICIENT_BITS: u32 = 12;
}

/// A transform of 2·N real samples, N = 128, 256 or 512 complex points.
#[derive(Clone, Copy, Debug)]
pub struct Fft<'a> {
    /// Exchanges that put the input into the order in which the stages combine it, to be done one after another.
    pub swaps: &'a [[u16; 2]],
    /// Rotations of the stages in order of execution, a stage of span m having m entries: e^(−2πi·jk/4m), j = 1, 2, 3.
    pub rotations: &'a [[Complex; 3]],
    /// Rotations that untangle the real spectrum, N/2 of them: e^(−πi·(k/N + 1/2)), k from 1.
    pub untangle: &'a [Complex],
}

impl Fft<'_> {
    /// Complex points, N.
    #[must_use]
    pub const fn points(&self) -> usize {
        2 * self.untangle.len()
    }
}

/// Triangular channels over the spectrum.
#[derive(Clone, Copy, Debug)]
pub struct Filterbank<'a> {
    /// The first bin that counts; never 0, the mean.
    pub start: usize,
    /// How many bins lie below the first centre, between each two centres, and so on: one more than channels.
    pub widths: &'a [u8],
    /// Per bin from `start`: weight for the channel that ends here, and for the one that begins.
    pub weights: &'a [[i16; 2]],
}

impl Filterbank<'_> {
    /// Fractional bits of a weight: 4096 is one.
    pub const WEIGHT_BITS: u32 = 12;

    /// Number of channels.
    #[must_use]
    pub const fn channels(&self) -> usize {
        self.widths.len().saturating_sub(1)
    }
}

/// How noise is followed and how much of a value always remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Fractional bits of the estimates.
    pub smoothing_bits: u32,
    /// Share of a new value in the estimate of channels 0, 2, 4 …
    pub even_smoothing: u16,
    /// Share of a new value in the estimate of channels 1, 3, 5 …
    pub odd_smoothing: u16,
    /// Share of the value that is left at least.
    pub min_signal_remaining: u16,
}

impl Noise {
    /// Fractional bits of shares: 16384 is one.
    pub const SHARE_BITS: u32 = 14;
}

/// The gain as a function of the noise estimate.
#[derive(Clone, Copy, Debug)]
pub struct Gain<'a> {
    /// One parabola per bit length of the estimate, 0 to 32: value at its start, slope, curvature.
    pub parabolas: &'a [[i16; 3]; 33],
    /// Bits to drop from value × gain.
    pub shift: u32,
}

impl Gain<'_> {
    /// Fractional bits of value × gain after the shift.
    pub const RATIO_BITS: u32 = 12;
}

/// How energies become features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// Features are natural logarithms times two to this power.
    pub scale_shift: u32,
    /// Bits by which values are shifted up first, so that small ones are not lost.
    pub correction_bits: u32,
}

/// From features to the model's input: `(feature · multiplier + bias + 2¹⁵) >> 16`, clamped to −127..=127.
#[derive(Clone, Copy, Debug)]
pub struct Normalize<'a> {
    /// Per feature: input steps per feature step, and input at feature 0, both with 16 fractional bits.
    pub affine: &'a [[i32; 2]],
}
